/**
 * `coxswain agent` from start to end: the agents of one process, against the coordinator of their pool. START READING at `live`.
 * Owns: joining and joining again, the order of disk and network, telling what happens. Not here: what members decide and learn
 * (control/agents/remote-party.ts), files' formats.
 */
import { resolve } from "node:path";
import { connectNats, type FleetClient, fleetClient, type NatsLink } from "../../adapters/nats/index.ts";
import { openTransitionLog, type TransitionLog } from "../../adapters/runtime/index.ts";
import {
  err,
  type Failure,
  failure,
  milliseconds,
  parseWorkloadId,
  type Result,
  seconds,
  seededRng,
  unwrap,
} from "../../base/index.ts";
import { type JoinAnswer, RemoteMember, RemoteParty, type StepAnswer, variants } from "../../control/agents/index.ts";
import { functionSpace, functionsLearner } from "../../control/tasks/functions/index.ts";
import { createLearner, type Learner } from "../../learn/rl/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import { pause } from "../pause.ts";
import type { Session } from "../shell.ts";
import { type AgentCheckpoints, agentCheckpoints } from "./agent-checkpoints.ts";
import { type AgentConfig, natsOptions } from "./fleet-schema.ts";
import { poolBounds } from "./simulated-pool.ts";

export interface AgentSummary {
  readonly pool: string;
  readonly agents: readonly string[];
  readonly steps: number;
  readonly transitions: number;
  readonly updates: number;
  readonly joins: number;
}

const JOIN_TIMEOUT = seconds(2);
/** Beyond the time that a step may take: an answer on its way. */
const MARGIN = seconds(1);
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 2_000;

export async function runAgent(
  session: Session,
  { config, kernels }: { readonly config: AgentConfig; readonly kernels: Kernels },
): Promise<AgentSummary> {
  const { log, signal, cwd } = session;
  const folder = resolve(cwd, config.data);
  const transitions = openTransitionLog({ folder });
  if (transitions.damaged > 0)
    log.error({ folder, damaged: transitions.damaged }, "transitions on disk are damaged; the rest is used");
  const checkpoints = agentCheckpoints({
    folder: resolve(folder, "checkpoints"),
    onDamaged: ({ code, message }) =>
      log.error({ code, why: message }, "a checkpoint is refused; the one before it is used"),
  });
  const name = `${config.pool}: ${config.agents[0]}${config.agents.length > 1 ? ` and ${config.agents.length - 1} more` : ""}`;
  const connected = await connectNats({
    ...natsOptions(config.nats, { cwd, name: `coxswain agent ${name}` }),
    waitFor: { signal, onWait: (why) => log.warn({ why }, "waiting for NATS") },
  });
  const link = unwrap(connected);
  const process = new AgentProcess(session, { config, kernels, name, link, transitions, checkpoints });
  try {
    await process.live();
    return process.summary();
  } finally {
    transitions.close();
    await link.close();
  }
}

interface Parts {
  readonly config: AgentConfig;
  readonly kernels: Kernels;
  readonly name: string;
  readonly link: NatsLink;
  readonly transitions: TransitionLog;
  readonly checkpoints: AgentCheckpoints;
}

class AgentProcess {
  readonly #session: Session;
  readonly #parts: Parts;
  readonly #client: FleetClient;
  /** Told when the connection is lost: an answer that is waited for will not come. */
  #onLost: (() => void) | undefined;
  #steps = 0;
  #transitions = 0;
  #updates = 0;
  #joins = 0;

  constructor(session: Session, parts: Parts) {
    this.#session = session;
    this.#parts = parts;
    this.#client = fleetClient(parts.link, parts.config.pool);
    parts.link.onState((state) => {
      session.log.info({ state }, "connection to NATS");
      if (state !== "connected") this.#onLost?.();
    });
  }

  async live(): Promise<void> {
    const { log, signal } = this.#session;
    for (let rest = FIRST_PAUSE; !signal.aborted; ) {
      const joined = await this.#join();
      if (joined.ok && joined.value.members.length > 0) {
        const why = await this.#takePart(joined.value);
        if (why === undefined) return;
        rest = FIRST_PAUSE;
        log.warn(
          { code: why.code, why: why.message },
          "out of the fleet: the pool's rules act until this process is back",
        );
      } else if (!joined.ok) log.warn({ code: joined.failure.code, why: joined.failure.message }, "cannot join yet");
      await pause(rest, signal);
      rest = Math.min(LONGEST_PAUSE, 2 * rest);
    }
  }

  summary(): AgentSummary {
    const { pool, agents } = this.#parts.config;
    const [steps, transitions, updates, joins] = [this.#steps, this.#transitions, this.#updates, this.#joins];
    return { pool, agents, steps, transitions, updates, joins };
  }

  async #join(): Promise<Result<JoinAnswer>> {
    const { config, name, link } = this.#parts;
    if (link.state !== "connected") return err(lost());
    const agents = config.agents.map((agent) => unwrap(parseWorkloadId(agent)));
    const joined = await this.#orLost(this.#client.join({ name, agents }, JOIN_TIMEOUT));
    if (joined.ok) for (const refused of joined.value.refused) this.#session.log.error(refused, "an agent is refused");
    return joined;
  }

  /** Until the process is stopped (undefined) or has to join again. */
  async #takePart(joined: JoinAnswer): Promise<Failure | undefined> {
    const { log, signal } = this.#session;
    const party = await this.#party(joined);
    const timeout = milliseconds(joined.stepTakes + MARGIN);
    try {
      while (!signal.aborted) {
        const answer = await this.#orLost(this.#client.step(joined.session, party.request(), timeout));
        if (signal.aborted) break;
        if (!answer.ok) return answer.failure;
        const out = await this.#learnFrom(party, answer.value);
        if (out !== undefined) return out;
      }
      const left = await this.#client.leave(joined.session, JOIN_TIMEOUT);
      log.info({ agents: [...party.members.keys()], told: left.ok }, "left the fleet");
      return undefined;
    } finally {
      party.dispose();
    }
  }

  async #learnFrom(party: RemoteParty, answer: StepAnswer): Promise<Failure | undefined> {
    const { log } = this.#session;
    const { transitions, out, refused, acted } = party.take(answer);
    for (const one of refused) log.warn(one, "refused by the coordinator");
    // On disk first: the next request tells the coordinator how many there are.
    this.#parts.transitions.append(transitions);
    const { updated, failed } = party.learn(transitions);
    for (const { code, message } of failed)
      log.error({ code, why: message }, "an agent cannot learn; its policy acts as it is");
    if (updated.length > 0) await this.#parts.checkpoints.save(updated);
    this.#steps += 1;
    this.#transitions += transitions.length;
    this.#updates += updated.length;
    log.debug({ step: answer.step, transitions: transitions.length, acted, updated: updated.length }, "step");
    for (const { agent, updates, kept } of updated) log.info({ agent, updates, kept }, "policy updated");
    return out.length > 0
      ? failure("agents.unknown", `${out.join(", ")}: no members of the fleet any more`)
      : undefined;
  }

  // ── Members ──────────────────────────────────────────────────────────────────────────────────────────

  async #party(joined: JoinAnswer): Promise<RemoteParty> {
    this.#joins += 1;
    const members: RemoteMember[] = [];
    for (const seat of joined.members) members.push(await this.#member(joined, seat));
    this.#session.log.info(
      {
        members: members.map(({ agent, incarnation, updates }) => ({ agent, incarnation, updates })),
        step: joined.step,
      },
      this.#joins > 1 ? "joined again" : "joined",
    );
    return new RemoteParty(members, joined.step);
  }

  async #member(joined: JoinAnswer, seat: JoinAnswer["members"][number]): Promise<RemoteMember> {
    const { config, transitions, checkpoints } = this.#parts;
    const { agent, incarnation } = seat;
    const variant = variants[joined.variant];
    const { learner, choiceOf } = this.#learner(joined, agent);
    const saved = await checkpoints.load(agent, learner);
    const member = new RemoteMember({
      agent,
      incarnation,
      variant,
      pool: joined.pool,
      bounds: poolBounds,
      learner,
      choiceOf,
      rng: seededRng(config.seed).fork(`${agent} ${incarnation}`),
      learning: config.learning,
      past: saved === undefined ? undefined : { ...saved, transitions: transitions.recent(agent) },
      sight: seat,
    });
    // The first policy too: what it does before its first update is learned from after a restart.
    if (unwrap(member.resume()) || saved === undefined) await checkpoints.save([member]);
    return member;
  }

  #learner(
    { variant, contextSize }: JoinAnswer,
    agent: string,
  ): { readonly learner: Learner; readonly choiceOf: (action: Float32Array) => number } {
    const { config, kernels } = this.#parts;
    const { algorithm, action, choiceOf } = functionsLearner("ppo", {
      badChoices: "masked",
      minibatch: variants[variant].minibatch,
    });
    const learner = createLearner(algorithm, {
      kernels,
      shape: { obs: functionSpace({ hasMask: true }).size, action, actorContext: 0, criticContext: contextSize },
      seed: seededRng(config.seed).fork(`${agent} learner`).uint32(),
    });
    return { learner, choiceOf };
  }

  // ── Waiting ──────────────────────────────────────────────────────────────────────────────────────────

  /** An answer, or a failure as soon as the connection is lost or the process is stopped. */
  async #orLost<T>(answer: Promise<Result<T>>): Promise<Result<T>> {
    const { signal } = this.#session;
    return new Promise((resolve) => {
      const end = (result: Result<T>): void => {
        signal.removeEventListener("abort", stop);
        // An answer that comes after all is no longer waited for, and somebody else may be.
        if (this.#onLost === stop) this.#onLost = undefined;
        resolve(result);
      };
      const stop = (): void => end(err(lost()));
      signal.addEventListener("abort", stop, { once: true });
      this.#onLost = stop;
      // Never rejects: failures are values.
      void answer.then(end);
    });
  }
}

const lost = (): Failure =>
  failure("agents.coordinator-lost", "the connection to the coordinator is lost; it is looked for again", {
    retry: true,
  });
