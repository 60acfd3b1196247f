/**
 * One demonstration agent: the product's agent in the product's seat, with what a person can change while it runs.
 * Owns: mode, SLO and pause as they are now, the figures that its document shows, and the switch that makes its learner
 * throw. Not here: when it ticks (control/loop), its settings (demo-profile.ts).
 */
import type { AgentId, Ms, Result } from "../../base/index.ts";
import type { HpaVpaControllerState } from "../../control/fallbacks/index.ts";
import type { FamiliarityReport, Judgement, StageMove, TrainingOutcome } from "../../control/lifecycle/index.ts";
import {
  Agent,
  autoscaleLearner,
  canaryBand,
  gatesAhead,
  modelForTask,
  offPolicyEstimator,
  thresholdLevels,
  WHOLE_BAND,
} from "../../control/lifecycle/index.ts";
import type { AgentInput, AgentTick, LoopAgent } from "../../control/loop/index.ts";
import { agentSeat } from "../../control/loop/index.ts";
import type { AutoscaleTask } from "../../control/tasks/index.ts";
import type { SharedModel } from "../../learn/meta/index.ts";
import type { Learner } from "../../learn/rl/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import type { Slo } from "../../observe/telemetry/index.ts";
import { sloPreservation } from "../../observe/telemetry/index.ts";
import type { AgentDocument, AllocationDocument, Judged, ModeName, StageName } from "../../server/index.ts";
import type { AgentLife } from "./agent-life.ts";
import { freshLife, splitLife, withLife } from "./agent-life.ts";
import { guardLimits } from "./demo-cluster.ts";
import { demoEstimate, demoProfile, demoSettings, demoTask } from "./demo-profile.ts";
import { fallbackOf, historyOf } from "./demo-rules.ts";
import type { DemoWorkload } from "./demo-workloads.ts";
import { allocationDocument } from "./measure.ts";

/** What a person has set. */
export interface Wishes {
  mode: ModeName;
  isPaused: boolean;
  revision: number;
}

/** What a chart shows; older ones are in the trajectory store. */
const EPISODES_SHOWN = 200;

export interface DemoAgentOptions {
  readonly id: AgentId;
  readonly workload: DemoWorkload;
  readonly slo: Slo;
  readonly wishes: Wishes;
  readonly kernels: Kernels;
  /** The model that it begins with, or why it can not be used; undefined: it begins with nothing. */
  readonly shared: Result<SharedModel> | undefined;
  readonly seed: number;
  /** When the world began, for the rules' memory of the days before. */
  readonly startedAt: Ms;
  /** Where it is now, for an agent that has no life yet. */
  readonly now: Ms;
}

export class DemoAgent {
  readonly id: AgentId;
  readonly workload: DemoWorkload;
  readonly wishes: Wishes;
  readonly #options: DemoAgentOptions;
  #slo: Slo;
  #task: AutoscaleTask;
  #agent: Agent<HpaVpaControllerState> | undefined;
  #isToCrash = false;
  #life: AgentLife;
  #running: { episode: number; reward: number; violations: number; stage: StageName } | undefined;
  /** What the workload had when it last decided. */
  had: AllocationDocument | null = null;
  /** Something happened since the last look that its document shows. */
  hasNews = true;
  /** The moves that are known to be on disk; others than `moves` until whoever saves has saved them. */
  savedMoves: readonly StageMove[] = [];

  constructor(options: DemoAgentOptions) {
    this.#options = options;
    this.id = options.id;
    this.workload = options.workload;
    this.wishes = { ...options.wishes };
    this.#life = freshLife(options.now);
    this.#slo = options.slo;
    this.#task = demoTask(options.workload, options.slo);
  }

  get slo(): Slo {
    return this.#slo;
  }

  set slo(slo: Slo) {
    this.#slo = slo;
    this.#task = demoTask(this.workload, slo);
  }

  get task(): AutoscaleTask {
    return this.#task;
  }

  /** The agent that has the turns now; after crashes in a row the loop makes another one. */
  get agent(): Agent<HpaVpaControllerState> {
    return this.#agent ?? this.#make();
  }

  get stage(): StageName {
    return this.agent.state.stage;
  }

  /** From stage to stage; another list after every move. */
  get moves(): readonly StageMove[] {
    return this.agent.state.history;
  }

  /** Its learner throws at its next proposal. */
  crashLearner(): void {
    this.#isToCrash = true;
  }

  /** For the loop, which calls it whenever it needs the agent as on its first day. */
  seat(): LoopAgent {
    const agent = this.#make();
    const { seed } = this.#options;
    const seat = agentSeat({
      agent,
      workload: this.workload.id,
      fallback: fallbackOf(this.workload).name,
      trainEvery: 4,
      updates: 48,
      estimate: demoEstimate(seed),
    });
    return {
      ...seat,
      tick: (input) => this.#watch(input, seat.tick(input)),
      adopt: (outcome) => {
        const adopted = seat.adopt(outcome);
        if (adopted.ok) this.#life.updates += (outcome as TrainingOutcome).updates;
        return adopted;
      },
      save: () => this.save(),
      load: (bytes) => {
        const found = splitLife(bytes);
        if (!found.ok) return found;
        const loaded = seat.load(found.value.state);
        if (!loaded.ok) return loaded;
        this.#life = found.value.life;
        this.savedMoves = this.moves;
        return loaded;
      },
    };
  }

  /** All that it goes on from after a restart, in one piece. */
  save(): Uint8Array {
    return withLife(this.#life, this.agent.save());
  }

  get acting(): AgentLife["acting"] {
    return this.#life.acting;
  }

  #make(): Agent<HpaVpaControllerState> {
    const { workload, kernels, seed, startedAt } = this.#options;
    const current = this;
    const shared = this.#options.shared?.ok
      ? modelForTask(this.#options.shared.value, this.task)
      : this.#options.shared;
    const agent = new Agent<HpaVpaControllerState>({
      workload: workload.id,
      get task() {
        return current.task;
      },
      get profile() {
        return demoProfile(current.wishes.mode);
      },
      limits: guardLimits,
      fallback: fallbackOf(workload),
      fallbackStart: { history: historyOf(workload, startedAt) },
      createLearner: (attempt) =>
        this.#fragile(
          autoscaleLearner({
            kernels,
            task: this.task,
            seed: seed + 7_919 * attempt,
            ...(shared?.ok ? { shared: shared.value } : {}),
          }),
        ),
      ...(shared ? { shared } : {}),
      estimator: offPolicyEstimator(demoEstimate(seed)),
      settings: demoSettings,
      seed,
      isPaused: () => this.wishes.isPaused,
    });
    this.#agent = agent;
    this.savedMoves = agent.state.history;
    return agent;
  }

  #fragile(learner: Learner): Learner {
    const act = learner.act.bind(learner);
    learner.act = (obs, options) => {
      if (!this.#isToCrash) return act(obs, options);
      this.#isToCrash = false;
      throw new Error("a fault was injected into the learner");
    };
    return learner;
  }

  /** Keeps what the document shows of the tick. */
  #watch(input: AgentInput, tick: AgentTick): AgentTick {
    const life = this.#life;
    if (life.acting !== tick.who || tick.events.length > 0) this.hasNews = true;
    life.acting = tick.who;
    this.had = input.have.ok ? allocationDocument(input.have.value) : null;
    for (const { name, evidence } of tick.events) {
      if (name !== "estimate") continue;
      const { mean, lower, upper } = evidence as { mean: number; lower: number; upper: number };
      life.estimate = { at: input.now, mean, lower, upper };
    }
    const { completed } = tick;
    if (completed === undefined) return tick;
    if (this.#running !== undefined && this.#running.episode !== completed.episode) this.#endEpisode();
    this.#running ??= { episode: completed.episode, reward: 0, violations: 0, stage: tick.stage as StageName };
    this.#running.reward += completed.reward;
    const preservation = input.reading.ok ? sloPreservation(this.#slo, input.reading.value) : null;
    if (preservation !== null && preservation < 1) this.#running.violations += 1;
    if (completed.end !== "no") this.#endEpisode();
    return tick;
  }

  #endEpisode(): void {
    const { episodes } = this.#life;
    if (this.#running !== undefined) episodes.push(this.#running);
    episodes.splice(0, episodes.length - EPISODES_SHOWN);
    this.#running = undefined;
    this.hasNews = true;
  }

  document(): AgentDocument {
    const { agent } = this;
    const { mode, isPaused, revision } = this.wishes;
    const { begun, acting, episodes, estimate, updates } = this.#life;
    const { state } = agent;
    const { stage, history } = state;
    const profile = demoProfile(mode);
    const band = canaryBand(profile, state);
    return {
      id: this.id,
      workload: this.workload.id,
      stage,
      since: history.at(-1)?.at ?? begun,
      acting,
      mode,
      isPaused,
      history,
      episodes: [...episodes],
      thresholds: thresholdLevels(profile, state),
      estimate,
      gates: gatesAhead(profile, state).map(judged),
      canaryBand: stage === "ONLINE" && band < WHOLE_BAND ? band : null,
      guardTripRate: agent.guardTripRate,
      rollbacks: state.rollbacks,
      updates,
      familiarity: familiarityDocument(agent.familiarity),
      revision,
    };
  }
}

const judged = ({ gate, holds, found, asked, about }: Judgement | Judged): Judged => ({
  gate,
  holds,
  found,
  asked,
  about,
});

function familiarityDocument(report: FamiliarityReport | null): AgentDocument["familiarity"] {
  if (report === null) return null;
  const { state, why, model, embedding, kin } = report;
  return { state, why, model, embedding, kin };
}
