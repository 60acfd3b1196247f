/**
 * Unseen workloads, each met by every method under the same requests.
 * Owns: which workloads a seed has, playing the methods on them, the converged policy that they are held against.
 * Not here: the methods (adaptation-methods.ts), what is made of the outcome (adaptation-rows.ts).
 */
import { seededRng } from "../../base/index.ts";
import { applicationPool, drawScene, openWorld, type PoolKind, type Scene } from "../../pretraining/index.ts";
import type { Application, ClusterWorld } from "../../sim/index.ts";
import { shuffled } from "../shuffled.ts";
import type { StudyJob } from "../study.ts";
import type { AdaptationMethod, LearningWork, Prepared } from "./adaptation-methods.ts";
import type { AgentDriver } from "./agents.ts";
import type { AwareConfig } from "./config.ts";
import type { LevelOptions } from "./converge.ts";
import type { EpisodeTruth } from "./drive.ts";
import { countEpisodes, type EpisodeCount, type Life, lifeOf, play, total } from "./life.ts";
import { type LoadPool, loadPool } from "./loads.ts";
import { type DriverParts, rulesOnly } from "./methods.ts";
import { openSetting } from "./setting.ts";
import { recorded } from "./training-lives.ts";

export interface AdaptationChoices {
  /** Episodes of training on a known workload, for methods that transfer. */
  readonly source: number;
  /** Groups of unseen workloads, each with a known workload of its own to transfer from. */
  readonly groups: Readonly<Record<PoolKind, number>>;
  readonly perGroup: Readonly<Record<PoolKind, number>>;
  /** Episodes on each unseen workload: more than this is not waited for. */
  readonly episodes: number;
  /** Of these, how many are also played without learning, with what was brought along and with what was learned. */
  readonly still: number;
  readonly level: LevelOptions;
}

export type AdaptationConfig = AwareConfig & { readonly adaptation: AdaptationChoices };

/** One method on one unseen workload. */
export interface MethodOutcome {
  readonly life: Life;
  /** Gradient updates until the end of each episode. */
  readonly updates: readonly number[];
  readonly work: LearningWork;
  /** The first episodes without learning; null where nothing was brought along. */
  readonly still: Life | null;
}

/** Plain JSON: it crosses threads and is kept on the disk. */
export interface WorkloadOutcome {
  readonly application: string;
  readonly rules: Life;
  /** Of the policies that the methods ended with, the one that earns most in the first hours, over all of them. */
  readonly converged: Life;
  readonly convergedBy: string;
  readonly methods: Readonly<Record<string, MethodOutcome>>;
}

export interface AdaptationResult {
  readonly pool: PoolKind;
  readonly workloads: readonly WorkloadOutcome[];
}

export const unitsOf = ({ adaptation: { groups } }: AdaptationConfig): readonly string[] =>
  (["split", "held-out"] as const).flatMap((pool) =>
    Array.from({ length: groups[pool] }, (_, group) => `${pool}/${group}`),
  );

function groupOf(unit: string): { readonly pool: PoolKind; readonly group: number } {
  const [pool, group] = unit.split("/");
  return { pool: pool === "held-out" ? "held-out" : "split", group: Number(group) };
}

/** Scenes' numbers, far apart: those of sources and of unseen workloads, which are of all four kinds in turn. */
const SLOTS: Readonly<Record<PoolKind, { readonly source: number; readonly unseen: number }>> = {
  split: { source: 1_000, unseen: 2_000 },
  "held-out": { source: 3_000, unseen: 4_000 },
};

interface GroupChoice {
  readonly seed: number;
  readonly pool: PoolKind;
  readonly group: number;
  readonly adaptation: AdaptationChoices;
  readonly loads: LoadPool;
}

export interface GroupScenes {
  readonly source: Scene;
  readonly unseen: readonly Scene[];
}

/** No two unseen workloads of a seed and pool have the same application. */
export function scenesOf({ seed, pool, group, adaptation, loads }: GroupChoice): GroupScenes {
  const { known, unseen } = applicationPool(pool);
  const rng = seededRng(seed).fork("adaptation").fork(pool);
  const perGroup = adaptation.perGroup[pool];
  const scene = (slot: number, application: Application): Scene =>
    drawScene({ seed, slot, application, ...recorded(loads) });
  const source = known[rng.fork("source").fork(group).int(known.length)] as Application;
  const first = group * perGroup;
  return {
    source: scene(SLOTS[pool].source + group, source),
    unseen: shuffled(unseen, rng.fork("unseen"))
      .slice(first, first + perGroup)
      .map((application, i) => scene(SLOTS[pool].unseen + first + i, application)),
  };
}

export async function playAdaptation(
  job: StudyJob<AdaptationConfig>,
  methodsFor: (pool: PoolKind) => readonly AdaptationMethod[],
): Promise<AdaptationResult> {
  const { seed, config, kernels, unit } = job;
  const { adaptation, rung, agent } = config;
  const { pool, group } = groupOf(unit);
  const methods = methodsFor(pool);
  const loads = await loadPool(config.loads, seed);
  const { source, unseen } = scenesOf({ seed, pool, group, adaptation, loads });
  const partsOf = (scene: Scene): DriverParts => ({
    setting: openSetting(scene, { seed, config }),
    agent,
    kernels,
    seed,
  });
  const count = countEpisodes(job, episodesOf(methods, { adaptation, workloads: unseen.length }));
  const ground = { source: partsOf(source), pool, rung, episodes: adaptation.source, count };
  const prepared: Ready[] = [];
  for (const method of methods) prepared.push({ method, prepared: await method.prepare(ground) });
  return {
    pool,
    workloads: unseen.map((scene) => meet({ parts: partsOf(scene), ready: prepared, rung, adaptation, count })),
  };
}

function episodesOf(
  methods: readonly AdaptationMethod[],
  { adaptation, workloads }: { readonly adaptation: AdaptationChoices; readonly workloads: number },
): number {
  const { source, episodes, still } = adaptation;
  const trained = methods.filter(({ trainsOnSource }) => trainsOnSource).length;
  const tried = methods.filter(({ isPrepared }) => isPrepared).length;
  // The rules live as long as the methods, and so does the best of the policies that those end with.
  const shortLives = methods.length - 1 + tried;
  return trained * source + workloads * ((methods.length + 2) * episodes + shortLives * still);
}

interface Ready {
  readonly method: AdaptationMethod;
  readonly prepared: Prepared;
}

interface Meeting {
  readonly parts: DriverParts;
  readonly ready: readonly Ready[];
  readonly rung: AwareConfig["rung"];
  readonly adaptation: AdaptationChoices;
  readonly count: EpisodeCount;
}

interface Adapted {
  readonly ready: Ready;
  readonly outcome: MethodOutcome;
  readonly policy: Uint8Array;
}

function meet(meeting: Meeting): WorkloadOutcome {
  const { parts, ready, adaptation, count } = meeting;
  const { setting } = parts;
  const { scene } = setting;
  const world = openedFor(meeting);
  const rules = lifeOf(play({ setting, world, driver: rulesOnly(setting), episodes: adaptation.episodes, count }), 0);
  const adapted = ready.map((one) => adapt(meeting, one));
  const finals = adapted.map(({ ready: { method, prepared }, policy }) => {
    const life = new StillLife(meeting, prepared, policy);
    return { method, life, earned: total(life.play(adaptation.still), "reward") };
  });
  // Not whose learning ended highest: what a policy earns while it tries things out says little about it as it ended.
  const best = finals.reduce((one, other) => (other.earned > one.earned ? other : one));
  const converged = best.life.play(adaptation.episodes - adaptation.still);
  for (const { life } of finals) life.dispose();
  return {
    application: scene.application.id,
    rules,
    converged,
    convergedBy: best.method.id,
    methods: Object.fromEntries(adapted.map(({ ready: one, outcome }) => [one.method.id, outcome])),
  };
}

function adapt(meeting: Meeting, ready: Ready): Adapted {
  const { adaptation, parts, count } = meeting;
  const { method, prepared } = ready;
  const { setting } = parts;
  const world = openedFor(meeting);
  const driver = prepared.driver(parts, { learns: true });
  const updates: number[] = [];
  const truths: EpisodeTruth[] = [];
  for (let episode = 0; episode < adaptation.episodes; episode++) {
    truths.push(...play({ setting, world, driver, episodes: 1, count }));
    updates.push(driver.updates);
  }
  const policy = new Uint8Array(driver.policy());
  const life = lifeOf(truths, driver.updates);
  driver.dispose();
  const still = method.isPrepared ? firstEpisodes(meeting, prepared) : null;
  return { ready, outcome: { life, updates, work: prepared.work, still }, policy };
}

/** With what was brought along, as it is. */
function firstEpisodes(meeting: Meeting, prepared: Prepared): Life {
  const life = new StillLife(meeting, prepared);
  const played = life.play(meeting.adaptation.still);
  life.dispose();
  return played;
}

/** Nothing is learned in it. It can be gone on with. */
class StillLife {
  readonly #meeting: Meeting;
  readonly #world: ClusterWorld;
  readonly #driver: AgentDriver;
  readonly #truths: EpisodeTruth[] = [];

  constructor(meeting: Meeting, prepared: Prepared, policy?: Uint8Array) {
    this.#meeting = meeting;
    this.#world = openedFor(meeting);
    this.#driver = prepared.driver(meeting.parts, { learns: false, ...(policy ? { policy } : {}) });
  }

  /** So many episodes more; answers all of them. */
  play(episodes: number): Life {
    const { parts, count } = this.#meeting;
    const { setting } = parts;
    this.#truths.push(...play({ setting, world: this.#world, driver: this.#driver, episodes, count }));
    return lifeOf(this.#truths, this.#driver.updates);
  }

  dispose(): void {
    this.#driver.dispose();
  }
}

/** From the load's first midnight on, in a world of its own. */
const openedFor = ({ parts: { setting }, rung }: Meeting): ClusterWorld =>
  openWorld(setting.scene, { seed: setting.worldSeed, rung });
