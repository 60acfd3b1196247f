/**
 * Where a played session stands, as its client sees it.
 * Owns: the last step with everything a record of it needs; the client keeps it step by step, and gets it from the host
 * when it returns after a crash. Both must agree to the bit, so that a step is recorded once whoever tells it.
 */
import type { Ms } from "../../base/index.ts";
import type { End } from "../../learn/env/index.ts";
import type { Observed, Standing as StandingMessage, Step } from "./generated/coxswain/env/v1/env_pb.ts";

/** Logical time: which step of which episode of which session. */
export interface Moment {
  readonly session: string;
  /** From 1 on; 0 before the first reset. */
  readonly episode: number;
  /** The last step that was carried out, from 0; undefined right after a reset. */
  readonly step: number | undefined;
}

export interface LastStep {
  readonly step: number;
  /** What was seen when the action was decided. */
  readonly before: Float32Array;
  readonly action: Float32Array;
  readonly decidedAt: Ms;
  readonly reward: number;
  readonly end: End;
  /** The reward of the step before; undefined at the first. */
  readonly previousReward: number | undefined;
}

export interface Standing {
  readonly session: string;
  readonly episode: number;
  /** The newest observation, as numbers. */
  readonly obs: Float32Array;
  /** Undefined right after a reset. */
  readonly last: LastStep | undefined;
}

export function endOf({ terminated, truncated }: Observed): End {
  return terminated ? "terminated" : truncated ? "truncated" : "no";
}

export function afterReset(session: string, { episode, observation }: Observed): Standing {
  return { session, episode, obs: Float32Array.from(observation), last: undefined };
}

export function afterStep(previous: Standing, call: Step, observed: Observed): Standing {
  const { session, episode, obs } = previous;
  return {
    session,
    episode,
    obs: Float32Array.from(observed.observation),
    last: {
      step: call.step,
      before: obs,
      action: Float32Array.from(call.action),
      decidedAt: call.decidedAtMs as Ms,
      reward: observed.reward,
      end: endOf(observed),
      previousReward: previous.last?.reward,
    },
  };
}

/** What the host says on a client's return. */
export function fromMessage(session: string, message: StandingMessage | undefined): Standing | undefined {
  const observed = message?.last;
  if (message === undefined || observed === undefined) return undefined;
  const started = afterReset(session, observed);
  if (observed.step === undefined) return started;
  return {
    ...started,
    last: {
      step: observed.step,
      before: Float32Array.from(message.previousObservation),
      action: Float32Array.from(message.action),
      decidedAt: message.decidedAtMs as Ms,
      reward: observed.reward,
      end: endOf(observed),
      previousReward: message.previousReward,
    },
  };
}
