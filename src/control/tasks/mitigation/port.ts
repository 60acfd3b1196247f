/**
 * The services of one application as their controllers know them, and what every such controller is.
 * Owns: the two contracts. Who implements them: worlds (sim/microservices/services-port.ts) and controllers, the learned
 * one (control/loop/mitigation) as well as every baseline (control/fallbacks).
 */
import type { ServiceAction, ServiceProposal } from "../../../act/index.ts";
import type { Ms, Result } from "../../../base/index.ts";
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
  /** Does a guarded action. Controllers propose and do not call this: the driver does (control/loop/mitigation/drive.ts). */
  apply(action: ServiceAction): Result<void>;
}

/** What a controller is shown: everything but the means to act. */
export type ServicesView = Omit<ServicesPort, "apply">;

export interface ServicesController {
  readonly name: string;
  /** Called once per control interval. What it proposes passes the guard one by one, in this order. */
  control(services: ServicesView): readonly ServiceProposal[];
}
