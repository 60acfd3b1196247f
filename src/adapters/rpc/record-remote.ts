/**
 * Records what is played on a remote environment, every acknowledged step once.
 * Owns: which records a standing makes, and the order of writing. Not here: the store (learn/trajectory is the port).
 *
 * A record is named by session, episode and step: the episode id is `<session>.<episode>`. It is appended when its step
 * is acknowledged and gets reward and end one step later, because only then is it known that the episode went on: when
 * the host loses the session, the last acknowledged step is the one that ends the episode, truncated, and the step
 * nobody answered is not recorded. A step is sent only after all before it are stored, so a client that crashes owes at
 * most one, and the host tells that one to the client that returns.
 */
import { type AgentId, type EpisodeId, failureOf } from "../../base/index.ts";
import type { ResetRequest, Waiting } from "../../learn/env/index.ts";
import type { Completion, EpisodeEnd, TrajectoryRecord, TrajectoryStore } from "../../learn/trajectory/index.ts";
import type { RemoteEnv } from "./remote-env.ts";
import type { LastStep, Standing } from "./remote-standing.ts";

export interface RecordingOptions {
  readonly store: Pick<TrajectoryStore, "append" | "complete">;
  readonly agent: AgentId;
}

/** Puts the recording around an environment; on one that was resumed it first stores what the crashed client owed. */
export async function recordRemote<Obs, Action>(
  env: RemoteEnv<Obs, Action>,
  options: RecordingOptions,
): Promise<RemoteEnv<Obs, Action>> {
  const recorder = new Recorder(options);
  if (env.standing !== undefined) {
    recorder.stepped(env.standing);
    await recorder.settle();
  }
  return {
    spec: env.spec,
    observationSpace: env.observationSpace,
    actionSpace: env.actionSpace,
    get resumeToken() {
      return env.resumeToken;
    },
    get moment() {
      return env.moment;
    },
    get standing() {
      return env.standing;
    },
    get interruption() {
      return env.interruption;
    },
    get reconnects() {
      return env.reconnects;
    },
    async reset(request?: ResetRequest, waiting?: Waiting) {
      // Whoever resets in the middle of an episode ends its recording, not its task.
      recorder.cut();
      await recorder.settle();
      return env.reset(request, waiting);
    },
    async step(action, waiting) {
      await recorder.settle();
      const step = await env.step(action, waiting);
      if (env.interruption !== undefined) recorder.cut();
      else if (env.standing !== undefined) recorder.stepped(env.standing);
      await recorder.trySettling();
      return step;
    },
    async close() {
      recorder.cut();
      await recorder.settle();
      await env.close();
    },
    async detach() {
      await recorder.settle();
      await env.detach();
    },
  };
}

class Recorder {
  readonly #store: RecordingOptions["store"];
  readonly #agent: AgentId;
  /** Writes that are not stored yet, in order. */
  #owed: (() => Promise<unknown>)[] = [];
  /** The newest record, whose reward and end are to follow. */
  #open: { readonly standing: Standing; readonly last: LastStep } | undefined;

  constructor({ store, agent }: RecordingOptions) {
    this.#store = store;
    this.#agent = agent;
  }

  /** Repeating a standing is harmless: the store knows its records and completions again. */
  stepped(standing: Standing): void {
    const { last } = standing;
    if (last === undefined) return;
    if (last.step > 0 && last.previousReward !== undefined)
      this.#complete({ ...keyOf(standing, last.step - 1), reward: last.previousReward, end: "no" });
    if (last.end === "no") {
      this.#append(this.#recordOf(standing, last, { reward: null, end: "no" }));
      this.#open = { standing, last };
      return;
    }
    this.#append({
      ...this.#recordOf(standing, last, { reward: last.reward, end: last.end }),
      finalObs: standing.obs,
    });
    this.#open = undefined;
  }

  /** The episode goes no further. */
  cut(): void {
    if (this.#open === undefined) return;
    const { standing, last } = this.#open;
    this.#complete({
      ...keyOf(standing, last.step),
      reward: last.reward,
      end: "truncated",
      finalObs: standing.obs,
    });
    this.#open = undefined;
  }

  async settle(): Promise<void> {
    for (let write = this.#owed[0]; write !== undefined; write = this.#owed[0]) {
      await write();
      this.#owed.shift();
    }
  }

  /** A store that is away for a moment does not spoil a step that was made; the next one waits for it. */
  async trySettling(): Promise<void> {
    try {
      await this.settle();
    } catch (thrown) {
      if (failureOf(thrown)?.retry !== true) throw thrown;
    }
  }

  #append(record: TrajectoryRecord): void {
    this.#owed.push(() => this.#store.append([record]));
  }

  #complete(completion: Completion): void {
    this.#owed.push(() => this.#store.complete([completion]));
  }

  #recordOf(
    standing: Standing,
    { step, before, action, decidedAt }: LastStep,
    outcome: { readonly reward: number | null; readonly end: EpisodeEnd },
  ): TrajectoryRecord {
    return {
      ...keyOf(standing, step),
      agent: this.#agent,
      at: decidedAt,
      obs: before,
      proposed: action,
      executed: action,
      logProb: null,
      ...outcome,
    };
  }
}

function keyOf({ session, episode }: Standing, step: number): { readonly episode: EpisodeId; readonly step: number } {
  return { episode: `${session}.${episode}` as EpisodeId, step };
}
