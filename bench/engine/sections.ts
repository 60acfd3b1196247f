/**
 * What the engine bench measures, section by section, and the bounds its figures are held against.
 * Not here: who computes it (crew.ts and the contenders).
 */

import { availableParallelism, loadavg } from "node:os";
import {
  type ComparisonOptions,
  type Measured,
  MICROSECONDS,
  MILLISECONDS,
  plainFigure,
  speedup,
  timeRatio,
} from "../comparison.ts";
import type { Rounds } from "../measure.ts";
import { atLeast, atMost, type Figure, round } from "../report.ts";
import type { Crew, Part, Role } from "./crew.ts";
import { PPO } from "./fixtures.ts";
import { GEMM_SHAPES, KERNEL_CALLS, parseShape } from "./our-gemm.ts";

const OURS = ["wasm", "native"] as const;

const ours = (task: string): Part[] =>
  OURS.map((role) => ({ key: role, role, task, label: `our engine, ${role} kernels` }));

/** Eager and compiled; the faster one is the peer. Compiling takes a minute, so a quick run leaves it out. */
function torch(crew: Crew, task: string, { canCompile }: { canCompile: boolean }): Part[] {
  const version = crew.has("torch")
    ? crew.get("torch").greeting.replace("torch", "PyTorch").replace(/\+\S*/, "")
    : "PyTorch";
  const eager: Part = { key: "torch", role: "torch", task, label: `${version}, one thread` };
  if (crew.context.quick || !canCompile) return [eager];
  return [eager, { ...eager, key: "torch+compile", task: `${task}+compile`, label: `${version} compiled, one thread` }];
}

function fastest(results: ReadonlyMap<string, Measured>, prefix: string): Measured | undefined {
  return [...results]
    .filter(([key]) => key.startsWith(prefix))
    .map(([, measured]) => measured)
    .sort((a, b) => a.timing.best - b.timing.best)[0];
}

/** The figures of the peers themselves, so that every time in the report can be read. */
function peerFigures(results: ReadonlyMap<string, Measured>, options: ComparisonOptions): Figure[] {
  return [...results]
    .filter(([key]) => !OURS.some((role) => key.startsWith(role)))
    .map(([key, measured]) => plainFigure(measured, { ...options, id: `${options.id}.${key}` }));
}

export async function ddpgSection(crew: Crew, rounds: Rounds): Promise<Figure[]> {
  const c: Part = { key: "c", role: "c-ddpg", task: "ddpg", label: "the native C reference" };
  const results = await crew.measure([...ours("ddpg"), c, ...torch(crew, "ddpg", { canCompile: true })], rounds);
  const options = { id: "ddpg", what: "DDPG update", unit: MICROSECONDS };
  const figures: Figure[] = [];
  for (const role of OURS) {
    const own = results.get(role);
    if (!own) continue;
    const [peer, limit] = [fastest(results, "torch"), results.get("c")];
    if (!peer && !limit) figures.push(plainFigure(own, { ...options, id: `ddpg.${role}` }));
    if (peer)
      figures.push(
        speedup({ ours: own, peer, bound: atLeast(5, "PyTorch's speed") }, { ...options, id: `ddpg.${role}.torch` }),
      );
    if (limit) {
      const bound = atMost(2.5, "times the C reference's time");
      figures.push(timeRatio({ ours: own, peer: limit, bound }, { ...options, id: `ddpg.${role}.c` }));
    }
  }
  return [...figures, ...peerFigures(results, options)];
}

export async function inferenceSection(crew: Crew, rounds: Rounds): Promise<Figure[]> {
  const c: Part = { key: "c", role: "c-ddpg", task: "inference", label: "the native C reference" };
  const onnx: Part = { key: "onnx", role: "onnx", task: "inference", label: "onnxruntime-node 1.30.0, one thread" };
  const results = await crew.measure(
    [...ours("inference"), c, onnx, ...torch(crew, "inference", { canCompile: true })],
    rounds,
  );
  const options = { id: "inference", what: "policy inference, batch 1", unit: MICROSECONDS };
  const figures: Figure[] = [];
  for (const role of OURS) {
    const own = results.get(role);
    if (!own) continue;
    const bound = atMost(2, "µs");
    figures.push({
      ...plainFigure(own, { ...options, id: `inference.${role}` }),
      target: bound.text,
      holds: bound.accepts(own.timing.best / MICROSECONDS.ns),
    });
    const [onnxruntime, pytorch] = [results.get("onnx"), fastest(results, "torch")];
    if (onnxruntime) {
      const pair = { ours: own, peer: onnxruntime, bound: atLeast(10, "onnxruntime-node's speed") };
      figures.push(speedup(pair, { ...options, id: `inference.${role}.onnx` }));
    }
    if (pytorch) figures.push(speedup({ ours: own, peer: pytorch }, { ...options, id: `inference.${role}.torch` }));
  }
  return [...figures, ...peerFigures(results, options)];
}

export async function ppoSection(crew: Crew, rounds: Rounds): Promise<Figure[]> {
  const results = await crew.measure([...ours("ppo"), ...torch(crew, "ppo", { canCompile: true })], rounds);
  const options = { id: "ppo", what: `PPO update, minibatch ${PPO.minibatch}`, unit: MICROSECONDS };
  const updates = (PPO.rollout / PPO.minibatch) * PPO.epochs;
  const figures: Figure[] = [];
  for (const role of OURS) {
    const own = results.get(role);
    if (!own) continue;
    const peer = fastest(results, "torch");
    if (peer)
      figures.push(
        speedup({ ours: own, peer, bound: atLeast(5, "PyTorch's speed") }, { ...options, id: `ppo.${role}.torch` }),
      );
    if (!peer) continue;
    const what = `PPO update of ${PPO.rollout} steps × ${PPO.epochs} epochs (${updates} minibatches)`;
    const pair = { ours: scaled(own, updates), peer: scaled(peer, updates) };
    figures.push(speedup(pair, { id: `ppo.${role}.whole`, what, unit: MILLISECONDS }));
  }
  return [...figures, ...peerFigures(results, options)];
}

export async function gruSection(crew: Crew, rounds: Rounds): Promise<Figure[]> {
  const c: Part = { key: "c", role: "c-gru", task: "gru", label: "the native C reference" };
  const results = await crew.measure([...ours("gru"), c, ...torch(crew, "gru", { canCompile: false })], rounds);
  const options = { id: "gru", what: "bidirectional GRU 2×256, T=100, B=20, forward and backward", unit: MILLISECONDS };
  const figures: Figure[] = [];
  const [wasm, native, peer] = [results.get("wasm"), results.get("native"), results.get("torch")];
  if (wasm && peer) {
    const bound = atMost(1.8, "times PyTorch's time");
    figures.push(timeRatio({ ours: wasm, peer, bound }, { ...options, id: "gru.wasm.torch" }));
  }
  if (native && peer) {
    const bound = atLeast(1.2, "PyTorch's speed");
    figures.push(speedup({ ours: native, peer, bound }, { ...options, id: "gru.native.torch" }));
  }
  for (const role of OURS) {
    const [own, limit] = [results.get(role), results.get("c")];
    if (own && limit) figures.push(timeRatio({ ours: own, peer: limit }, { ...options, id: `gru.${role}.c` }));
    else if (own) figures.push(plainFigure(own, { ...options, id: `gru.${role}` }));
  }
  return [...figures, ...peerFigures(results, options), ...(await twoThreads(crew, rounds))];
}

/**
 * Two threads with half the batch each against one thread with all of it, by the wall; the same halves on one thread show
 * what the cut alone costs. It needs two cores that nobody else uses, so on a machine with more work than
 * cores the ratio is shown but not judged.
 */
async function twoThreads(crew: Crew, rounds: Rounds): Promise<Figure[]> {
  const figures: Figure[] = [];
  const load = loadavg()[0] ?? 0;
  const isBusy = load > availableParallelism();
  const bound = atLeast(1.7, "one thread's speed");
  if (isBusy)
    crew.absent.push(`two threads against one: not judged, a load of ${round(load)} leaves no two cores free`);
  for (const role of OURS) {
    const part = (task: string, threads: string): Part => ({
      key: task,
      role,
      task,
      label: `${role} kernels, ${threads}`,
    });
    const parts = [
      part("gru", "one thread"),
      part("gru-threads:1", "two shards on one thread"),
      part("gru-threads:2", "two shards on two threads"),
    ];
    const results = await crew.measure(parts, rounds);
    const [one, halves, two] = parts.map(({ key }) => results.get(key));
    if (!one || !two) continue;
    const what = "bidirectional GRU, forward and backward";
    const options = { id: `gru.${role}.threads`, what, unit: MILLISECONDS, clock: "wall" } as const;
    figures.push(speedup({ ours: two, peer: one, ...(isBusy ? {} : { bound }) }, options));
    if (halves) figures.push(speedup({ ours: two, peer: halves }, { ...options, id: `gru.${role}.threads.shards` }));
  }
  return figures;
}

/** Whole learners, as a control loop calls them; the difference to the networks alone is their bookkeeping. */
export async function learnerSection(crew: Crew, rounds: Rounds): Promise<Figure[]> {
  const figures: Figure[] = [];
  const whole = `a PPO update of ${PPO.rollout} observed steps × ${PPO.epochs} epochs, whole learner`;
  for (const [task, what, unit] of [
    ["ddpg-act", "one checked decision of a DDPG learner", MICROSECONDS],
    ["ddpg-learner", "one observed step and one DDPG update from replay, whole learner", MICROSECONDS],
    ["ppo-learner", whole, MILLISECONDS],
  ] as const) {
    for (const [role, measured] of await crew.measure(ours(task), rounds)) {
      figures.push(plainFigure(measured, { id: `learner.${role}.${task}`, what, unit }));
    }
  }
  return figures;
}

export async function memorySection(crew: Crew): Promise<Figure[]> {
  const role = OURS.find((set) => crew.has(set));
  if (!role) return [];
  const figures: Figure[] = [];
  const bound = atMost(256, "KiB");
  for (const batch of [64, 1]) {
    const size = (await crew.get(role).value(`agent-memory:${batch}`)) / 1_024;
    figures.push({
      id: `memory.agent.batch-${batch}`,
      what: `an agent of two 64×64 networks with optimiser state, buffers for batch ${batch}`,
      value: round(size),
      unit: "KiB",
      target: bound.text,
      holds: bound.accepts(size),
    });
  }
  return figures;
}

/** GFLOP/s of single products and µs of single kernel calls, for whoever works on kernels. */
export async function kernelSection(crew: Crew, rounds: Rounds): Promise<Figure[]> {
  const figures: Figure[] = [];
  const sets: readonly Role[] = OURS.filter((role) => crew.has(role));
  for (const shape of GEMM_SHAPES) {
    const { m, n, k } = parseShape(shape);
    const results = await crew.measure(ours(`gemm:${shape}`), rounds);
    for (const role of sets) {
      const timing = results.get(role)?.timing;
      if (!timing) continue;
      const speed = (ns: number) => round((2 * m * n * k) / ns);
      const what = `matrix product ${shape}, ${role}`;
      figures.push({
        id: `gemm.${role}.${shape}`,
        what,
        value: speed(timing.best),
        unit: "GFLOP/s",
        median: speed(timing.median),
      });
    }
  }
  for (const name of KERNEL_CALLS) {
    const results = await crew.measure(ours(`kernel:${name}`), rounds);
    for (const [role, measured] of results) {
      figures.push(plainFigure(measured, { id: `kernel.${role}.${name}`, what: `kernel ${name}`, unit: MICROSECONDS }));
    }
  }
  return figures;
}

function scaled({ label, timing }: Measured, factor: number): Measured {
  return {
    label,
    timing: {
      ...timing,
      best: timing.best * factor,
      median: timing.median * factor,
      bestWall: timing.bestWall * factor,
      medianWall: timing.medianWall * factor,
    },
  };
}
