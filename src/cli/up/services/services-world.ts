/**
 * The simulated application as the world of a plane: its services are what is managed, a second a step.
 * Owns: the ports through which a plane meets them, and the order of a second: requests, spans, triage, then agents.
 * Not here: simulating (sim), who needs help (control/tasks/mitigation), turns (plane).
 */
import {
  ManualClock,
  type Ms,
  ok,
  parseWorkloadId,
  type Result,
  unwrap,
  type WorkloadId,
} from "../../../base/index.ts";
import type { NodeSource } from "../../../control/loop/index.ts";
import {
  roomsFor,
  ServiceActuation,
  type ServicesPort,
  servicesActuator,
  Triage,
} from "../../../control/tasks/mitigation/index.ts";
import type { TelemetrySource } from "../../../observe/telemetry/index.ts";
import type { World, WorldSide } from "../../../plane/index.ts";
import type { ServiceKnowledge, Told } from "./service-knowledge.ts";
import type { SimulatedApplication } from "./simulated-application.ts";
import type { TracePipeline } from "./trace-pipeline.ts";

export interface ServicesWorldOptions {
  readonly simulated: SimulatedApplication;
  readonly knowledge: ServiceKnowledge;
  readonly pipeline: Pick<TracePipeline, "admit">;
}

/** Between two looks of triage, as agents act (FIRM 3.2.4). */
const INTERVAL = 1_000;

/** The id of a service as a managed workload: `hotel-reservation-search`. */
export const serviceId = (application: string, service: string): WorkloadId =>
  unwrap(parseWorkloadId(`${application}-${service}`));

/** Nobody is blamed in the twin: its autoscaler would not ask. */
const nobody = { read: () => undefined, promise: () => undefined, suspects: () => [] };

export class ServicesWorld {
  readonly clock: ManualClock;
  readonly #options: ServicesWorldOptions;
  readonly #services: ReadonlyMap<WorkloadId, string>;
  readonly #twinTriage: Triage;
  #nextTurn = Number.NEGATIVE_INFINITY;

  constructor(options: ServicesWorldOptions) {
    this.#options = options;
    const { simulated } = options;
    const { application } = simulated;
    const idOf = (service: string) => serviceId(application.name, service);
    this.clock = new ManualClock(simulated.port.now);
    this.#services = new Map(application.services.map(({ name }) => [idOf(name), name]));
    this.#twinTriage = new Triage({ localizer: nobody, idOf, trimEvery: 0 });
  }

  /** All that happens until then. */
  advance(until: Ms): void {
    const { simulated, knowledge, pipeline } = this.#options;
    pipeline.admit(simulated.advance(until));
    if (until < this.#nextTurn) return;
    this.#nextTurn = until + INTERVAL;
    knowledge.turn(until, toldBy(simulated));
    this.#twinTriage.turn(simulated.twinPort);
  }

  /** For a plane, from now on. */
  asWorld(): World {
    const { simulated, knowledge } = this.#options;
    return {
      kind: "simulated",
      ...this.#side(simulated.port, (service) => knowledge.triage.reading(service)),
      twin: this.#side(simulated.twinPort, (service) => this.#twinTriage.reading(service)),
      clock: { kind: "moved", clock: this.clock, advance: (until) => this.advance(until) },
    };
  }

  #side(port: ServicesPort, read: (service: string) => Result<unknown>): WorldSide {
    const serviceOf = (workload: WorkloadId): string | undefined => this.#services.get(workload);
    const telemetry: TelemetrySource = { read: async (workload) => read(serviceOf(workload) ?? workload) };
    const nodes: NodeSource = {
      nodes: async (workload) => {
        const own = port.readInstances().filter(({ service }) => service === serviceOf(workload));
        return ok(roomsFor(port.readNodes(), own));
      },
    };
    return { telemetry, actuator: servicesActuator(new ServiceActuation({ port, serviceOf })), nodes };
  }
}

function toldBy(simulated: SimulatedApplication): Told {
  const culprits = simulated.culprits();
  return {
    view: simulated.port,
    truth: { culprits, isWhole: culprits.length === simulated.anomalies().length },
  };
}
