/**
 * FIRM's agents over one application, stepped in place: one for each service, as the product has them, with the paper's
 * profile: the policy is given, there is no bootstrapping and no gate.
 * Owns: one interval of all of them. Not here: what an agent does (control/lifecycle), who needs help
 * (control/tasks/mitigation/triage.ts), learning (control/tasks/mitigation/pretraining).
 */
import { milliseconds, parseWorkloadId, unwrap, type WorkloadId } from "../../base/index.ts";
import { Agent, type LifecycleProfile, paperProfile, parseLifecycleProfile } from "../../control/lifecycle/index.ts";
import type { Localizer } from "../../control/localize/index.ts";
import {
  type MitigationActions,
  type MitigationSeen,
  type MitigationTask,
  mitigationTask,
  mostGain,
  roomsFor,
  ServiceActuation,
  type ServiceHpaState,
  type ServiceReading,
  type ServiceSetting,
  type ServicesPort,
  serviceHpaFallback,
  serviceLimits,
  Triage,
} from "../../control/tasks/mitigation/index.ts";
import type { Learner } from "../../learn/rl/index.ts";
import { NameTable, spanColumnsOf } from "../../observe/telemetry/index.ts";
import { TracingCoordinator } from "../../observe/tracing/index.ts";
import type { Acted } from "./episode.ts";

export interface FirmAgentsOptions {
  readonly port: ServicesPort;
  /** With what it learned before. */
  readonly localizer: Localizer;
  readonly createLearner: () => Learner;
  readonly actions?: MitigationActions;
}

type ServiceAgent = Agent<ServiceReading, ServiceSetting, MitigationSeen, ServiceHpaState>;

export class FirmAgents {
  readonly #port: ServicesPort;
  readonly #options: FirmAgentsOptions;
  readonly #triage: Triage;
  readonly #actuation: ServiceActuation;
  readonly #names = new NameTable();
  // A simulated request's spans are all there when it ends, so a trace waits for nobody.
  readonly #tracing = new TracingCoordinator(this.#names, { limits: { promptSettle: milliseconds(0) } });
  readonly #agents = new Map<string, ServiceAgent>();

  constructor(options: FirmAgentsOptions) {
    const { port, localizer } = options;
    this.#port = port;
    this.#options = options;
    this.#triage = new Triage({ localizer, idOf });
    this.#actuation = new ServiceActuation({ port, serviceOf: (workload) => workload });
  }

  /** One control interval. */
  step(): Acted {
    this.#see();
    this.#triage.turn(this.#port);
    let actions = 0;
    let refusals = 0;
    for (const reading of this.#triage.readings.values()) {
      const { actions: done, refusals: refused } = this.#act(reading);
      actions += done;
      refusals += refused;
    }
    return { actions, refusals };
  }

  #see(): void {
    const { now } = this.#port;
    const batch = spanColumnsOf(this.#port.takeSpans(), this.#names);
    this.#triage.see(batch, now);
    this.#tracing.admit(batch, now, { isPrompt: true });
    const traces = this.#tracing.collect(now);
    if (traces === null) return;
    this.#options.localizer.observe(traces);
    this.#tracing.release(traces);
  }

  #act(reading: ServiceReading): Acted {
    const { workload, containers } = reading;
    const { now } = this.#port;
    const agent = this.#agentOf(reading);
    const nodes = roomsFor(this.#port.readNodes(), containers);
    const { action, verdict } = agent.tick({
      reading: agent.parse(reading),
      have: this.#actuation.read(workload),
      nodes,
      now,
    });
    if (action.kind === "hold") return { actions: 0, refusals: verdict?.refused === undefined ? 0 : 1 };
    const applied = this.#actuation.apply(action);
    agent.acted(applied);
    return applied.ok ? { actions: 1, refusals: 0 } : { actions: 0, refusals: 1 };
  }

  #agentOf({ service, workload, containers }: ServiceReading): ServiceAgent {
    const known = this.#agents.get(service);
    if (known !== undefined) return known;
    const { actions = "headroom", createLearner } = this.#options;
    const task = mitigationTask({ actions });
    const [first] = containers;
    if (first === undefined) throw new RangeError(`${service} has no container`);
    const agent: ServiceAgent = new Agent({
      workload,
      task,
      profile: profileFor(task),
      limits: serviceLimits(first),
      fallback: serviceHpaFallback(),
      createLearner,
      // The policy is given: nothing is explored, and nothing is learned from it either.
      settings: { noise: { kind: "gaussian", sigma: 0 } },
      seed: 0,
    });
    this.#agents.set(service, agent);
    return agent;
  }

  dispose(): void {
    for (const agent of this.#agents.values()) agent.dispose();
  }
}

/** The paper's manager, at work from the first step on: no episode is bad enough to take the policy away. */
const profileFor = (task: MitigationTask): LifecycleProfile =>
  unwrap(
    parseLifecycleProfile({
      ...paperProfile,
      bootstrap: false,
      maxReward: mostGain(task),
      online: { kind: "absolute", value: 0 },
      serving: { kind: "converged", below: mostGain(task) },
    }),
  );

const idOf = (service: string): WorkloadId => unwrap(parseWorkloadId(service));
