/**
 * An application in flat arrays, as both rungs run it.
 * Owns: the layout. Callers come before their callees, so that walking backwards goes bottom up.
 * Not here: the application (applications/), drawing a request's work (../draws.ts).
 */
import type { Call, MicroserviceApplication } from "./applications/index.ts";
import { type Profile, profiles, QUEUE_PER_THREAD } from "./calibration.ts";

export interface Program {
  readonly application: MicroserviceApplication;
  /** By service. */
  readonly names: readonly string[];
  readonly profiles: readonly Profile[];
  readonly work: Float64Array;
  readonly threads: Int32Array;
  readonly queue: Int32Array;
  /** By call of a workflow. */
  readonly service: Int32Array;
  readonly size: Float64Array;
  /** The call that makes it; -1: the client. */
  readonly parent: Int32Array;
  /** Chance that it is made at all. */
  readonly chance: Float64Array;
  /** The stages of call c are firstStage[c] to firstStage[c + 1]; of a stage, the calls likewise, in `staged`. */
  readonly firstStage: Int32Array;
  readonly firstStaged: Int32Array;
  readonly staged: Int32Array;
  readonly firstBackground: Int32Array;
  readonly background: Int32Array;
  /** By request type: its first call, and its part of all requests. */
  readonly roots: Int32Array;
  readonly mix: Float64Array;
}

export function compile(application: MicroserviceApplication): Program {
  const { services, requests } = application;
  const index = new Map(services.map(({ name }, i) => [name, i]));
  const hitRatio = new Map(services.map(({ name, hitRatio: ratio }) => [name, ratio ?? 0]));
  const flat: Call[] = [];
  const roots: number[] = [];
  // A call that several workflows share as one object is a call of each of them, so every visit is laid out anew.
  const stagesOf: number[][][] = [];
  const backgroundOf: number[][] = [];
  const parents: number[] = [];
  const lay = (call: Call, parent: number): number => {
    const at = flat.length;
    flat.push(call);
    parents.push(parent);
    stagesOf.push([]);
    backgroundOf.push([]);
    backgroundOf[at] = call.background.map((child) => lay(child, at));
    stagesOf[at] = call.stages.map((stage) => stage.map((child) => lay(child, at)));
    return at;
  };
  for (const { root } of requests) roots.push(lay(root, -1));
  const total = requests.reduce((sum, { weight }) => sum + weight, 0);
  const stages = stagesOf.flat();
  return {
    application,
    names: services.map(({ name }) => name),
    profiles: services.map(({ profile }) => profiles[profile]),
    work: Float64Array.from(services, ({ work }) => work),
    threads: Int32Array.from(services, ({ threads }) => threads),
    queue: Int32Array.from(services, ({ threads }) => threads * QUEUE_PER_THREAD),
    service: Int32Array.from(flat, ({ service }) => index.get(service) as number),
    size: Float64Array.from(flat, ({ size }) => size),
    parent: Int32Array.from(parents),
    chance: Float64Array.from(flat, ({ onMissOf }) =>
      onMissOf === undefined ? 1 : 1 - (hitRatio.get(onMissOf) as number),
    ),
    firstStage: starts(stagesOf),
    firstStaged: starts(stages),
    staged: Int32Array.from(stages.flat()),
    firstBackground: starts(backgroundOf),
    background: Int32Array.from(backgroundOf.flat()),
    roots: Int32Array.from(roots),
    mix: Float64Array.from(requests, ({ weight }) => weight / total),
  };
}

function starts(lists: readonly (readonly unknown[])[]): Int32Array {
  const at = new Int32Array(lists.length + 1);
  for (const [i, list] of lists.entries()) at[i + 1] = (at[i] as number) + list.length;
  return at;
}

/** Expected calls of each workflow call per request of its type, and of each service per request of any type. */
export function visitsOf(program: Program): { readonly calls: Float64Array; readonly services: Float64Array } {
  const { service, chance, firstStage, firstStaged, staged, firstBackground, background, roots, mix } = program;
  const calls = new Float64Array(service.length);
  const services = new Float64Array(program.names.length);
  for (const root of roots) calls[root] = 1;
  const pass = (from: number, to: number): void => {
    calls[to] = calls[from]! * chance[to]!;
  };
  let type = -1;
  for (let at = 0; at < service.length; at++) {
    // Workflows lie one after another, each from its root on.
    if (at === roots[type + 1]) type++;
    services[service[at]!]! += calls[at]! * mix[type]!;
    for (let i = firstBackground[at]!; i < firstBackground[at + 1]!; i++) pass(at, background[i]!);
    for (let s = firstStage[at]!; s < firstStage[at + 1]!; s++)
      for (let i = firstStaged[s]!; i < firstStaged[s + 1]!; i++) pass(at, staged[i]!);
  }
  return { calls, services };
}

/** Milliseconds of own work (in isolation, on the reference processor) in each service per request of any type. */
export function workPerRequest(program: Program): Float64Array {
  const { service, size, roots, mix } = program;
  const { calls } = visitsOf(program);
  const work = new Float64Array(program.names.length);
  let type = -1;
  for (let at = 0; at < service.length; at++) {
    if (at === roots[type + 1]) type++;
    work[service[at]!]! += calls[at]! * mix[type]! * size[at]! * program.work[service[at]!]!;
  }
  return work;
}
