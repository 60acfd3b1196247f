/**
 * The services of one application as their controllers know them, and what every controller of containers is.
 * Owns: the contracts. Who implements them: worlds (sim/microservices/services-port.ts), and controllers that set each
 * container by itself, such as the studies' opponents (control/fallbacks). Learned agents go by service (task.ts).
 */
import type { Limits, Ms, Result } from "../../../base/index.ts";
import type {
  InstanceReading,
  NodeReading,
  RequestReading,
  Span,
  WorkloadReading,
} from "../../../observe/telemetry/index.ts";

export interface ServicesPort {
  readonly now: Ms;
  readInstances(): readonly InstanceReading[];
  readRequests(): readonly RequestReading[];
  readNodes(): readonly NodeReading[];
  /** One service as an autoscaler of Kubernetes sees it. */
  readService(service: string): WorkloadReading;
  /** Spans that came since the last call. */
  takeSpans(): readonly Span[];
  /** Does what a guard has let pass. Controllers propose and do not call these: the driver does (drive.ts). */
  setLimits(instance: string, limits: Partial<Limits>): Result<unknown>;
  scale(service: string, replicas: number): Result<unknown>;
}

/** What a controller is shown: everything but the means to act. */
export type ServicesView = Omit<ServicesPort, "setLimits" | "scale">;

export type ServiceAction =
  | { readonly kind: "hold" }
  /** Limits that are left out stay as they are. */
  | { readonly kind: "set-limits"; readonly instance: string; readonly limits: Partial<Limits> }
  | { readonly kind: "scale-service"; readonly service: string; readonly replicas: number };

export interface ServiceProposal {
  readonly action: ServiceAction;
  /** When the newest measurement was taken that the decision rests on. */
  readonly measuredAt: Ms;
  /** One sentence for people: what was seen, what this is to do. */
  readonly why: string;
}

export interface ServicesController {
  readonly name: string;
  /** Called once per control interval. What it proposes passes the guard one by one, in this order. */
  control(services: ServicesView): readonly ServiceProposal[];
}
