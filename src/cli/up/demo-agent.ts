/**
 * One demonstration agent: the product's agent in the product's seat, with what a person can change while it runs.
 * Owns: mode, SLO and pause as they are now, the figures that its document shows, and the switch that makes its learner
 * throw. Not here: when it ticks (control/loop), its settings (demo-profile.ts).
 */
import type { AgentId, Ms } from "../../base/index.ts";
import type { HpaVpaControllerState } from "../../control/fallbacks/index.ts";
import type { Judgement, TrainingOutcome } from "../../control/lifecycle/index.ts";
import {
  Agent,
  autoscaleLearner,
  canaryBand,
  gatesAhead,
  offPolicyEstimator,
  thresholdLevels,
  WHOLE_BAND,
} from "../../control/lifecycle/index.ts";
import type { AgentInput, AgentTick, LoopAgent } from "../../control/loop/index.ts";
import { agentSeat } from "../../control/loop/index.ts";
import type { AutoscaleTask } from "../../control/tasks/index.ts";
import type { Learner } from "../../learn/rl/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import type { Slo } from "../../observe/telemetry/index.ts";
import { sloPreservation } from "../../observe/telemetry/index.ts";
import type {
  AgentDocument,
  AllocationDocument,
  Judged,
  ModeName,
  StageChange,
  StageName,
} from "../../server/index.ts";
import { demoEstimate, demoProfile, demoSettings, demoTask } from "./demo-profile.ts";
import type { DemoWorkload } from "./demo-workloads.ts";
import { fallbackOf, guardLimits, historyOf } from "./demo-workloads.ts";
import { allocationDocument } from "./measure.ts";

type Episode = AgentDocument["episodes"][number];

/** What of an agent's document is not in the agent itself; plain JSON, kept across restarts. */
export interface AgentNotes {
  mode: ModeName;
  isPaused: boolean;
  since: number;
  acting: AgentDocument["acting"];
  history: StageChange[];
  episodes: Episode[];
  estimate: AgentDocument["estimate"];
  updates: number;
  revision: number;
}

export const freshNotes = (at: number): AgentNotes => ({
  mode: "act",
  isPaused: false,
  since: at,
  acting: "fallback",
  history: [],
  episodes: [],
  estimate: null,
  updates: 0,
  revision: 1,
});

/** What a chart shows; older ones are in the trajectory store. */
const EPISODES_SHOWN = 200;
const CHANGES_SHOWN = 100;

export interface DemoAgentOptions {
  readonly id: AgentId;
  readonly workload: DemoWorkload;
  readonly slo: Slo;
  readonly notes: AgentNotes;
  readonly kernels: Kernels;
  readonly seed: number;
  /** When the world began, for the rules' memory of the days before. */
  readonly startedAt: Ms;
}

export class DemoAgent {
  readonly id: AgentId;
  readonly workload: DemoWorkload;
  readonly notes: AgentNotes;
  readonly #options: DemoAgentOptions;
  #slo: Slo;
  #task: AutoscaleTask;
  #agent: Agent<HpaVpaControllerState> | undefined;
  #isToCrash = false;
  #running: { episode: number; reward: number; violations: number; stage: StageName } | undefined;
  /** What the workload had when it last decided. */
  had: AllocationDocument | null = null;
  /** Before its first decision its saved state may not have been read yet, and must not be written over. */
  hasDecided = false;
  /** Something happened since the last look that its document shows. */
  hasNews = true;

  constructor(options: DemoAgentOptions) {
    this.#options = options;
    this.id = options.id;
    this.workload = options.workload;
    this.notes = options.notes;
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
        if (adopted.ok) this.notes.updates += (outcome as TrainingOutcome).updates;
        return adopted;
      },
    };
  }

  #make(): Agent<HpaVpaControllerState> {
    const { workload, kernels, seed, startedAt } = this.#options;
    const current = this;
    const agent = new Agent<HpaVpaControllerState>({
      workload: workload.id,
      get task() {
        return current.task;
      },
      get profile() {
        return demoProfile(current.notes.mode);
      },
      limits: guardLimits,
      fallback: fallbackOf(workload),
      fallbackStart: { history: historyOf(workload, startedAt) },
      createLearner: (attempt) =>
        this.#fragile(autoscaleLearner({ kernels, task: this.task, seed: seed + 7_919 * attempt })),
      estimator: offPolicyEstimator(demoEstimate(seed)),
      settings: demoSettings,
      seed,
      isPaused: () => this.notes.isPaused,
    });
    this.#agent = agent;
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
    const { notes } = this;
    if (notes.acting !== tick.who || tick.events.length > 0) this.hasNews = true;
    notes.acting = tick.who;
    this.hasDecided = true;
    this.had = input.have.ok ? allocationDocument(input.have.value) : null;
    for (const { name, evidence } of tick.events) {
      if (name === "transition") this.#change(evidence as StageChange);
      if (name === "estimate") {
        const { mean, lower, upper } = evidence as { mean: number; lower: number; upper: number };
        notes.estimate = { at: input.now, mean, lower, upper };
      }
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
    if (this.#running !== undefined) this.notes.episodes.push(this.#running);
    this.notes.episodes.splice(0, this.notes.episodes.length - EPISODES_SHOWN);
    this.#running = undefined;
    this.hasNews = true;
  }

  #change({ at, from, to, because, evidence }: StageChange): void {
    const { history } = this.notes;
    history.push({ at, from, to, because, evidence: evidence.map(judged) });
    history.splice(0, history.length - CHANGES_SHOWN);
    this.notes.since = at;
  }

  document(): AgentDocument {
    const { notes, agent } = this;
    const { state } = agent;
    const profile = demoProfile(notes.mode);
    const band = canaryBand(profile, state);
    return {
      id: this.id,
      workload: this.workload.id,
      stage: state.stage,
      since: notes.since,
      acting: notes.acting,
      mode: notes.mode,
      isPaused: notes.isPaused,
      history: [...notes.history],
      episodes: [...notes.episodes],
      thresholds: thresholdLevels(profile, state),
      estimate: notes.estimate,
      gates: gatesAhead(profile, state).map(judged),
      canaryBand: state.stage === "ONLINE" && band < WHOLE_BAND ? band : null,
      guardTripRate: agent.guardTripRate,
      rollbacks: state.rollbacks,
      updates: notes.updates,
      revision: notes.revision,
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
