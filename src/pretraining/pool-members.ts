/**
 * The applications that pre-training learns on, each with an environment of its own.
 * Owns: drawing the members of a pool one by one, what is known about each (which resource it depends on, what shape its
 * load has), and the world that one plays in.
 * Not here: scenes (scene.ts), learning (learn/meta), the applications that adaptation is judged on (scene.ts draws them).
 *
 * A member depends on the pool's seed and its own number only, so that a thread makes just the one it was asked for.
 */
import { type Ms, milliseconds, minutes, type Rng, seededRng } from "../base/index.ts";
import { type ActionKind, actionOrder, autoscaleEnv, observationSpace } from "../control/tasks/pods/index.ts";
import type { Env, EnvConfig } from "../learn/env/index.ts";
import type { PoolEntry, TraitGroup, Traits } from "../learn/meta/index.ts";
import type { Application, LoadShape, ProcessorName, Segment } from "../sim/index.ts";
import { generateLoad, meanRate, meanWork, processors, segmentOf, studyLoad } from "../sim/index.ts";
import { guideParameters, searchGuide } from "./guide.ts";
import { applicationPool, type PoolKind } from "./pools.ts";
import type { Scene, WorldChoice } from "./scene.ts";
import { guardLimits, openWorld, sceneOf, taskOf } from "./scene.ts";

export type Sensitivity = Segment["sensitivity"];
export type Rung = WorldChoice["rung"];

export interface PoolMember {
  readonly scene: Scene;
  /** The kind of segment that most of a request's time is spent in. */
  readonly sensitivity: Sensitivity;
  readonly shape: LoadShape;
}

/** Names a member, in plain data that crosses to a thread. */
export interface MemberChoice {
  readonly seed: number;
  /** From which part of the paper's thousand applications: those to learn on, or those that nothing is learned on. */
  readonly part: "known" | "unseen";
  /** How known and unseen ones are divided; `split` where nothing is said. */
  readonly pool?: PoolKind;
  readonly index: number;
  /** The product's actions where nothing is said; the paper's are limits. */
  readonly actions?: ActionKind;
  /** The fluid one where nothing is said: pre-training needs many steps. */
  readonly rung?: Rung;
}

/** Each as often: an encoder that meets one shape in twenty applications does not learn to tell it from the others. */
const shapes: readonly LoadShape[] = ["steady", "periodic", "on-off", "diurnal", "bursty"];
const sensitivities: readonly Sensitivity[] = ["serial-cpu", "parallel-cpu", "memory", "io", "network", "concurrency"];
const processorNames = Object.keys(processors) as ProcessorName[];
const LOAD_DAYS = 7;

export function drawMember(choice: MemberChoice): PoolMember {
  const { seed, part, index } = choice;
  const { application, shape, own } = drawKind(choice);
  const level = index % 2 === 0 ? "high" : "low";
  const generated = generateLoad({ seed: own.fork("load").int(1 << 30), level, shape, days: LOAD_DAYS });
  const processor = processorNames[own.fork("processor").int(processorNames.length)] as ProcessorName;
  const parts = { application, load: studyLoad(generated, application), processor };
  const name = `${part}-${seed}-${index}`;
  return {
    scene: sceneOf({ name, ...parts, isThroughput: index % 4 === 3 }),
    sensitivity: sensitivityOf(application),
    shape,
  };
}

/** What a member is, without its week of load, which takes longest to draw. */
function drawKind({ seed, part, index, pool = "split" }: MemberChoice): {
  readonly application: Application;
  readonly shape: LoadShape;
  readonly own: Rng;
} {
  const rng = seededRng(seed).fork("pool").fork(part);
  const applications = applicationPool(pool)[part];
  // Neighbours in a pool that was shuffled once: as random as any, and never the same one twice.
  const application = applications[(rng.int(applications.length) + index) % applications.length] as Application;
  const own = rng.fork(index);
  const shape = shapes[own.fork("shape").int(shapes.length)] as LoadShape;
  return { application, shape, own };
}

/** Time of a request by the kind of segment that it is spent in. */
function timesOf({ phases }: Pick<Application, "phases">): ReadonlyMap<Sensitivity, number> {
  const times = new Map<Sensitivity, number>();
  for (const { segment, cpu, width, wait } of phases) {
    const kind = segmentOf(segment)?.sensitivity;
    if (kind !== undefined) times.set(kind, (times.get(kind) ?? 0) + cpu / width + wait);
  }
  return times;
}

export function sensitivityOf(application: Pick<Application, "phases">): Sensitivity {
  return [...timesOf(application)].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

/** What the simulator knows of each member: where a request's time goes, and the shape of its load. */
export const poolTraits: readonly TraitGroup[] = [
  { name: "sensitivity", kinds: sensitivities },
  { name: "load shape", kinds: shapes },
];

function traitsOf(choice: MemberChoice): Traits {
  const { application, shape } = drawKind(choice);
  const times = timesOf(application);
  const all = [...times.values()].reduce((sum, time) => sum + time, 0);
  const shares = sensitivities.map((kind) => (times.get(kind) ?? 0) / all);
  return Float32Array.from([...shares, ...shapes.map((kind) => (kind === shape ? 1 : 0))]);
}

export function poolEntries(choice: Omit<MemberChoice, "index">, count: number): readonly PoolEntry[] {
  return Array.from({ length: count }, (_, index) => {
    const world: MemberChoice & EnvConfig = { ...choice, index };
    return { name: `${choice.part}-${choice.seed}-${index}`, world, traits: traitsOf({ ...choice, index }) };
  });
}

/** The same and what a policy needs to know: numbers that the capacity model learns, and the parameters of a good rule. */
export const guidedTraits: readonly TraitGroup[] = [
  ...poolTraits,
  {
    name: "needs",
    are: "numbers",
    kinds: [
      ...guideParameters,
      "CPU of a request",
      "wait of a request",
      "most threads of a request",
      "memory of an idle pod",
      "memory of a request",
      "CPU at the mean load",
      "peak over mean load",
      "threads of a pod",
    ],
  },
];

/** Members with a guide each, found in its own fluid world: about a second for one. */
export function guidedEntries(
  choice: Omit<MemberChoice, "index">,
  count: number,
  onEntry: (done: number) => void = () => undefined,
): readonly PoolEntry[] {
  const plain = poolEntries(choice, count);
  const found = plain.map((entry, index) => {
    const guide = searchGuide(() => poolWorld({ ...entry.world, rung: "fluid" }));
    onEntry(index + 1);
    return { ...entry, guide, needs: [...guide, ...physicsOf(drawMember({ ...choice, index }).scene)] };
  });
  const scaled = standardised(found.map(({ needs }) => needs));
  return found.map(({ needs: _, ...entry }, i) => ({
    ...entry,
    traits: Float32Array.from([...(entry.traits ?? []), ...(scaled[i] ?? [])]),
  }));
}

function physicsOf({ application, load, processor }: Scene): readonly number[] {
  const { cpu, wait } = meanWork(application);
  const { base, cache, perRequest } = application.memory;
  const perRequestCpu = cpu / processors[processor].speed;
  const mean = meanRate(load);
  const peak = load.perMinute.reduce((most, rate) => Math.max(most, rate), 0);
  return [
    Math.log(perRequestCpu),
    Math.log(1 + wait),
    Math.max(...application.phases.map(({ width }) => width)),
    Math.log(base + cache),
    Math.log(perRequest),
    Math.log(mean * perRequestCpu),
    Math.log(1 + peak / mean),
    Math.log(application.threads),
  ];
}

/** Each column less its mean, over its deviation. */
function standardised(rows: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const columns = (rows[0] ?? []).map((_, k) => {
    const values = rows.map((row) => row[k] as number);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    return { mean, deviation: Math.max(Math.sqrt(variance), 1e-6) };
  });
  return rows.map((row) => row.map((value, k) => (value - (columns[k]?.mean ?? 0)) / (columns[k]?.deviation ?? 1)));
}

/** Of all members: the product's task, as the lifecycle's agents see it. */
export const poolShape = {
  obs: observationSpace({ features: "extended" }).size,
  action: { kind: "continuous", low: actionOrder.map(() => -1), high: actionOrder.map(() => 1) },
} as const;

/** Until pods run and there is something to measure. */
const SETTLE = minutes(5);
const HOURS = 24 * LOAD_DAYS;
const HOUR: Ms = minutes(60);

/** A thread visits the same members again and again, and a week of load takes a while to draw. */
const drawn = new Map<string, PoolMember>();

function remembered(choice: MemberChoice): PoolMember {
  const key = `${choice.pool ?? "split"}-${choice.part}-${choice.seed}-${choice.index}`;
  const member = drawn.get(key) ?? drawMember(choice);
  drawn.set(key, member);
  return member;
}

/** A member's world, from some hour of its week on; episodes follow one another in it. */
export function poolWorld(config: EnvConfig): Env<Float32Array, Float32Array> {
  const choice = config as unknown as MemberChoice;
  const { scene } = remembered(choice);
  const { rung = "fluid" } = choice;
  return autoscaleEnv({
    id: rung === "event" ? "AutoscaleEvent-v0" : "AutoscaleFluid-v0",
    task: taskOf(scene, choice.actions === undefined ? {} : { actions: choice.actions }),
    workload: scene.workload,
    limits: guardLimits,
    settle: SETTLE,
    continues: true,
    makeWorld: (rng) =>
      openWorld(scene, {
        rung,
        seed: rng.fork("world").int(1 << 30),
        start: milliseconds(HOUR * rng.fork("start").int(HOURS)),
      }),
  });
}
