/**
 * One agent of the plane, of any task, with what a person can change while it runs.
 * Owns: mode, SLO and pause as they are now, what its ticks saw, the figures that its document shows, and the switch that
 * makes its learner throw. Not here: when it ticks (control/loop), how it is made (target.ts), documents of its workload.
 */
import type { Setting } from "../act/index.ts";
import type { AgentId, Ms } from "../base/index.ts";
import type {
  AgentDocument,
  DecisionDocument,
  FallbackDocument,
  Judged,
  ModeName,
  StageName,
} from "../contract/index.ts";
import type { AgentNotes } from "../contract/schemas/index.ts";

import type { FamiliarityReport, Judgement, StageMove, TrainingOutcome } from "../control/lifecycle/index.ts";
import { canaryBand, gatesAhead, thresholdLevels, WHOLE_BAND } from "../control/lifecycle/index.ts";
import type { AgentInput, AgentTick, LoopAgent } from "../control/loop/index.ts";
import type { Learner } from "../learn/rl/index.ts";
import type { Slo } from "../observe/telemetry/index.ts";
import { freshNotes, splitNotes, withNotes } from "./agent-notes.ts";
import { expectedLatency } from "./expected-latency.ts";
import { Seen } from "./seen.ts";
import { countDecision, steeringDocument } from "./steering.ts";
import type { PersonSet, RunningAgent, Target } from "./target.ts";

/** What a person has set. */
export interface Wishes {
  mode: ModeName;
  isPaused: boolean;
  revision: number;
}

/** What a chart shows; older ones are in the trajectory store. */
const EPISODES_SHOWN = 200;
/** Decisions of the learner between two tellings of how it steers: its document is too large for every step. */
const STEERING_TOLD_EVERY = 20;

export interface ManagedAgentOptions {
  readonly target: Target;
  readonly slo: Slo;
  readonly wishes: Wishes;
  readonly controlStep: Ms;
  /** Where it is now, for an agent that has no life yet. */
  readonly now: Ms;
}

export class ManagedAgent implements PersonSet {
  readonly id: AgentId;
  readonly wishes: Wishes;
  /** What its turns saw of the workload. */
  readonly seen: Seen;
  readonly #target: Target;
  slo: Slo;
  #agent: RunningAgent | undefined;
  #isToCrash = false;
  #notes: AgentNotes;
  #running: { episode: number; reward: number; violations: number; stage: StageName } | undefined;
  /** What the workload had when it last decided. */
  had: Setting | null = null;
  /** Latency that a model expects under the newest decision, and of the step that the decision before it was for. */
  #expectedNext: number | null = null;
  #expectedNow: number | null = null;
  /** Something happened since the last look that its document shows. */
  hasNews = true;
  /** The moves that are known to be on disk; others than `moves` until whoever saves has saved them. */
  savedMoves: readonly StageMove[] = [];

  constructor({ target, slo, wishes, controlStep, now }: ManagedAgentOptions) {
    this.id = target.agent;
    this.wishes = { ...wishes };
    this.slo = slo;
    this.#target = target;
    this.#notes = freshNotes(now);
    this.seen = new Seen({ view: target.view, have: target.have, controlStep });
  }

  get fallback(): FallbackDocument {
    return this.#target.fallback;
  }

  get mode(): ModeName {
    return this.wishes.mode;
  }

  get isPaused(): boolean {
    return this.wishes.isPaused;
  }

  /** The agent that has the turns now; after crashes in a row the loop makes another one. */
  get agent(): RunningAgent {
    if (this.#agent === undefined) this.#make();
    return this.#agent as RunningAgent;
  }

  get stage(): StageName {
    return this.agent.state.stage;
  }

  /** From stage to stage; another list after every move. */
  get moves(): readonly StageMove[] {
    return this.agent.state.history;
  }

  get acting(): AgentNotes["acting"] {
    return this.#notes.acting;
  }

  /** Its learner throws at its next proposal. */
  crashLearner(): void {
    this.#isToCrash = true;
  }

  disturb(learner: Learner): Learner {
    const act = learner.act.bind(learner);
    learner.act = (obs, options) => {
      if (!this.#isToCrash) return act(obs, options);
      this.#isToCrash = false;
      throw new Error("a fault was injected into the learner");
    };
    return learner;
  }

  #make(): LoopAgent {
    const { agent, slot } = this.#target.createAgent(this);
    this.#agent = agent;
    this.savedMoves = agent.state.history;
    return slot;
  }

  /** For the loop, which calls it whenever it needs the agent as on its first day. */
  slot(): LoopAgent {
    const slot = this.#make();
    return {
      ...slot,
      tick: (input) => this.#watch(input, slot.tick(input)),
      acted: (outcome) => {
        this.seen.acted(outcome);
        return slot.acted(outcome);
      },
      adopt: (outcome) => {
        const adopted = slot.adopt(outcome);
        if (adopted.ok) this.#notes.updates += (outcome as TrainingOutcome).updates;
        return adopted;
      },
      save: () => this.save(),
      load: (bytes) => {
        const found = splitNotes(bytes);
        if (!found.ok) return found;
        const loaded = slot.load(found.value.state);
        if (!loaded.ok) return loaded;
        this.#notes = found.value.notes;
        this.savedMoves = this.moves;
        return loaded;
      },
    };
  }

  /** All that it goes on from after a restart, in one piece. */
  save(): Uint8Array {
    return withNotes(this.#notes, this.agent.save());
  }

  /** Keeps what documents show of the tick. */
  #watch(input: AgentInput, tick: AgentTick): AgentTick {
    const notes = this.#notes;
    if (notes.acting !== tick.who || tick.events.length > 0) this.hasNews = true;
    notes.acting = tick.who;
    this.had = input.have.ok ? input.have.value : null;
    const measured = this.seen.see(input, this.slo);
    this.#expectedNow = this.#expectedNext;
    this.#expectedNext = expectedLatency(tick.expectedNearness, this.slo);
    for (const { name, evidence } of tick.events) {
      if (name !== "estimate") continue;
      const { mean, lower, upper } = evidence as { mean: number; lower: number; upper: number };
      notes.estimate = { at: input.now, mean, lower, upper };
    }
    const { completed } = tick;
    if (completed === undefined) return tick;
    if (this.#running !== undefined && this.#running.episode !== completed.episode) this.#endEpisode();
    this.#running ??= { episode: completed.episode, reward: 0, violations: 0, stage: tick.stage as StageName };
    this.#running.reward += completed.reward;
    const preservation = measured?.preservation ?? null;
    if (preservation !== null && preservation < 1) this.#running.violations += 1;
    if (completed.end !== "no") this.#endEpisode();
    return tick;
  }

  /** What was expected of the step that has just ended; once, for a step without a turn has nothing to compare it with. */
  takeExpected(): number | null {
    const expected = this.#expectedNow;
    this.#expectedNow = null;
    return expected;
  }

  /** A decision has been carried out, or not. */
  decided(decision: Pick<DecisionDocument, "who" | "proposed" | "executed" | "fallback">): void {
    const notes = this.#notes;
    notes.steering = countDecision(notes.steering, decision, { view: this.#target.view, slo: this.slo });
    if (decision.who === "learner" && notes.steering.total.decisions % STEERING_TOLD_EVERY === 0) this.hasNews = true;
  }

  #endEpisode(): void {
    const { episodes } = this.#notes;
    if (this.#running !== undefined) episodes.push(this.#running);
    episodes.splice(0, episodes.length - EPISODES_SHOWN);
    this.#running = undefined;
    this.hasNews = true;
  }

  document(): AgentDocument {
    const { agent } = this;
    const { mode, isPaused, revision } = this.wishes;
    const { begun, acting, episodes, estimate, updates, steering } = this.#notes;
    const { state } = agent;
    const { stage, history } = state;
    const profile = this.#target.profile(mode);
    const band = canaryBand(profile, state);
    return {
      id: this.id,
      workload: this.#target.id,
      fallback: this.fallback,
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
      steering: steeringDocument(steering),
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
