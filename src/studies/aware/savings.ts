/**
 * The product's agent beside tuned rules and an HPA as people run it: two days of a workload, and the hours after a release.
 * Owns: playing them, and counting what became of the agent's proposals. Not here: the table (aware-savings.ts), how much could
 * be won at all (headroom.ts).
 */
import type { Allocation } from "../../act/index.ts";
import { modelGates } from "../../control/lifecycle/index.ts";
import type { PriorModel } from "../../control/tasks/pods/index.ts";
import { productMode, usualThresholds } from "../../control/tasks/pods/index.ts";
import type { Scene } from "../../pretraining/index.ts";
import { drawScene, openWorld } from "../../pretraining/index.ts";
import type { StudyJob } from "../study.ts";
import type { AgentDriver, TickWatch } from "./agents.ts";
import { agentDriver } from "./agents.ts";
import { BoundSearch } from "./bound.ts";
import type { Driver, EpisodeTruth, View } from "./drive.ts";
import type { HeadroomConfig } from "./headroom.ts";
import { countEpisodes, type EpisodeCount, type Life, lifeOf, play } from "./life.ts";
import { loadPool } from "./loads.ts";
import { rulesOnly } from "./methods.ts";
import { opponentDriver, opponentStart, opponents } from "./opponents.ts";
import { openSetting, type Setting, withSloFor } from "./setting.ts";
import { recorded } from "./training-lives.ts";
import { updateSeries, type Version } from "./updates.ts";

export interface SavingsConfig extends HeadroomConfig {
  /** Episodes before and after the release. */
  readonly release: { readonly before: number; readonly after: number };
}

/** Counts of the learner's steps. */
export interface Conduct {
  readonly steps: number;
  /** Decisions by the learner, those that the actuator got as they were proposed, and those at the edge of what it may say. */
  readonly decisions: number;
  readonly asProposed: number;
  readonly atEdge: number;
  /** Steps that began with less CPU than the rules had in the same step of their own life. */
  readonly lessCpu: number;
}

export interface SavingsResult {
  /** By method. */
  readonly lives: Readonly<Record<string, Life>>;
  readonly conduct: Conduct;
}

/** One of the seed's workloads for two days, or "release": one of them before and after an update of its software. */
export function playSavings(job: StudyJob<SavingsConfig>): Promise<SavingsResult> {
  return job.unit === RELEASE ? playRelease(job) : playTwoDays(job, Number(job.unit));
}

export const RELEASE = "release";

async function playTwoDays(job: StudyJob<SavingsConfig>, slot: number): Promise<SavingsResult> {
  const { seed, config } = job;
  const drawn = await sceneOf(job, slot);
  const setting = openSetting(drawn, { seed, config });
  const count = countEpisodes(job, 3 * config.episodes);
  const rulesCpu: number[] = [];
  const life: PlayedLife = { setting, config, count, versions: [] };
  const lives: Record<string, Life> = { rules: lifeOf(playLife(life, remembering(rulesOnly(setting), rulesCpu)), 0) };
  const hpa = opponents.find(({ id }) => id === "hpa-80");
  if (hpa === undefined) throw new Error("there is no HPA at 80 %");
  lives["hpa-80"] = lifeOf(playLife(life, opponentDriver(drawn, hpa), opponentStart(drawn, hpa)), 0);
  const { truths, conduct } = playAgent(life, { job, rulesCpu });
  lives.agent = lifeOf(truths, 0);
  return { lives, conduct };
}

async function playRelease(job: StudyJob<SavingsConfig>): Promise<SavingsResult> {
  const { seed, config } = job;
  const { before, after } = config.release;
  const episodes = before + after;
  const pool = await loadPool(config.loads, seed);
  // Kinds of scenes in turn: high and low loads, every fourth with a throughput SLO.
  const base = await sceneOf(job, seed % 4);
  const versions = updateSeries(base, { seed, count: 1, pool });
  const setting = openSetting(withSloFor(base, versions), { seed, config });
  const count = countEpisodes(job, 12 * episodes);
  const life: PlayedLife = { setting, config: { ...config, episodes }, count, versions, updateAt: before };
  const rulesCpu: number[] = [];
  const rules = playLife(life, remembering(rulesOnly(setting), rulesCpu));
  const { truths, conduct } = playAgent(life, { job, rulesCpu });
  const { scene, task, worldSeed } = setting;
  const limit = Math.floor(config.budget * episodes * config.episodeSteps);
  const search = new BoundSearch(
    {
      scene,
      task,
      seed: worldSeed,
      rung: config.rung,
      episodes,
      counts: config.counts,
      count,
      versions: versions.map(({ application, load }) => ({ application, load, episode: before })),
    },
    limit,
  );
  const bound = search.schedule(limit) ?? search.constant(limit);
  const afterwards = (played: readonly EpisodeTruth[]): Life => lifeOf(played.slice(before), 0);
  const lives = { rules: afterwards(rules), agent: afterwards(truths), bound: afterwards(bound?.truths ?? rules) };
  return { lives, conduct };
}

async function sceneOf({ seed, config }: StudyJob<SavingsConfig>, slot: number): Promise<Scene> {
  const pool = await loadPool(config.loads, seed);
  return drawScene({ seed, slot, days: "varied", ...recorded(pool) });
}

interface PlayedLife {
  readonly setting: Setting;
  readonly config: SavingsConfig;
  readonly count: EpisodeCount;
  readonly versions: readonly Version[];
  readonly updateAt?: number;
}

function playLife(life: PlayedLife, driver: Driver, initial?: Allocation): EpisodeTruth[] {
  const { setting, config, count, versions, updateAt } = life;
  const { rung, episodes } = config;
  const world = openWorld(setting.scene, { seed: setting.worldSeed, rung, ...(initial ? { initial } : {}) });
  const first = updateAt ?? episodes;
  const truths = play({ setting, world, driver, episodes: first, count });
  for (const { application, load } of versions) world.update(setting.scene.workload, { application, load });
  return [...truths, ...play({ setting, world, driver, episodes: episodes - first, count })];
}

/** A driver that also remembers the CPU that each step began with. */
function remembering(driver: Driver, cpu: number[]): Driver {
  return {
    ...driver,
    decide(view: View) {
      cpu.push(cpuOf(view.have));
      return driver.decide(view);
    },
  };
}

const cpuOf = ({ replicas, cpu }: Allocation): number => replicas * cpu;
/** In action coordinates, whose ends are −1 and 1. */
const EDGE = 0.99;

interface AgentParts {
  readonly job: StudyJob<SavingsConfig>;
  /** What the rules had in each step of their own life. */
  readonly rulesCpu: readonly number[];
}

function playAgent(life: PlayedLife, { job, rulesCpu }: AgentParts) {
  const sum = { steps: 0, decisions: 0, asProposed: 0, atEdge: 0, lessCpu: 0 };
  const watch: TickWatch = ({ who, wished, action, step }, { have }) => {
    if (cpuOf(have) < (rulesCpu[sum.steps] ?? 0)) sum.lessCpu += 1;
    sum.steps += 1;
    if (who !== "learner" || wished === null) return;
    sum.decisions += 1;
    const got: Allocation = action.kind === "set" ? { ...have, ...action.set } : have;
    if ((Object.keys(got) as (keyof Allocation)[]).every((knob) => got[knob] === wished[knob])) sum.asProposed += 1;
    if (step?.proposed.some((value) => Math.abs(value) >= EDGE)) sum.atEdge += 1;
  };
  const driver = steeringDriver(life.setting, { kernels: job.kernels, seed: job.seed, watch });
  const truths = playLife(life, driver);
  driver.dispose();
  const conduct: Conduct = { ...sum };
  return { truths, conduct };
}

interface SteeringOptions extends Pick<StudyJob, "kernels" | "seed"> {
  readonly watch?: TickWatch;
  /** What its capacity model begins with; nothing, as `up` has it, where none is given. */
  readonly prior?: PriorModel;
}

/** The agent as `up` has it: by cost, around the capacity model's plan. */
export function steeringDriver(
  { scene, task, fallback }: Setting,
  { kernels, seed, watch, prior }: SteeringOptions,
): AgentDriver {
  return agentDriver({
    scene,
    task: { ...task, ...productMode, ...(prior ? { prior } : {}) },
    fallback: fallback(),
    kernels,
    seed,
    profile: {
      ...usualThresholds.cost,
      maxReward: task.episodeSteps,
      gates: modelGates({ mode: "act", attainment: task.attainment }),
    },
    ...(watch ? { watch } : {}),
  });
}
