/**
 * The workloads of a world as controllers and studies meet them; the same for both rungs.
 * Owns: reading, applying, room, scoring. Not here: how time passes (event/, fluid/), which only a rung knows.
 */
import type { Action, Allocation, NodeRoom } from "../../act/index.ts";
import type { Failure, Result, WorkloadId } from "../../base/index.ts";
import { bytes, CodedError, err, failure, millicores, milliseconds, ok } from "../../base/index.ts";
import type { OomKill, WorkloadReading } from "../../observe/telemetry/index.ts";
import type { ClusterState } from "./event/cluster-state.ts";
import type { Deployment } from "./event/deployment.ts";
import { roomFor } from "./event/placement.ts";
import type { Rollout } from "./event/rollout.ts";
import { Scraper } from "./event/scrape.ts";
import { TruthKeeper } from "./event/truth.ts";
import type { MetricsConfig } from "./metrics/config.ts";
import { assembleReading, type PodStatus } from "./metrics/reading.ts";
import type { WorkloadTruth } from "./world.ts";

interface Tenant {
  readonly deployment: Deployment;
  readonly scraper: Scraper;
  readonly truth: TruthKeeper;
  /** When the last reading was, and the kills it told of. */
  readAt: number;
  told: readonly OomKill[];
}

export interface TenantsOptions {
  readonly state: ClusterState;
  readonly rollout: Rollout;
  readonly start: number;
  readonly metrics: MetricsConfig;
}

export class Tenants {
  readonly #state: ClusterState;
  readonly #rollout: Rollout;
  readonly #start: number;
  readonly #tenants: readonly Tenant[];
  readonly #byId: ReadonlyMap<WorkloadId, Tenant>;

  /** The deployments' first pods must be there already. */
  constructor({ state, rollout, start, metrics }: TenantsOptions) {
    this.#state = state;
    this.#rollout = rollout;
    this.#start = start;
    this.#tenants = state.deployments.map((deployment) => ({
      deployment,
      scraper: new Scraper(deployment, metrics),
      truth: new TruthKeeper(deployment, start),
      readAt: Number.NEGATIVE_INFINITY,
      told: [],
    }));
    this.#byId = new Map(this.#tenants.map((tenant) => [tenant.deployment.id, tenant]));
  }

  find(workload: WorkloadId): Deployment {
    return this.#tenantOf(workload).deployment;
  }

  scrape(index: number): void {
    this.#tenants[index]?.scraper.scrape(this.#state.now);
  }

  read(workload: WorkloadId): WorkloadReading {
    const tenant = this.#tenantOf(workload);
    const { deployment, scraper } = tenant;
    const { now } = this.#state;
    const fresh = deployment.kills.length > 0 ? deployment.kills.splice(0) : [];
    // Reading twice at one moment tells the same twice: whoever reads beside the controller takes nothing from it.
    tenant.told = tenant.readAt < now ? fresh : [...tenant.told, ...fresh];
    tenant.readAt = now;
    return assembleReading({
      workload,
      asked: deployment.asked,
      pods: this.#statusesOf(deployment),
      ooms: tenant.told,
      sample: scraper.pipeline.newest(now),
      start: this.#start,
    });
  }

  apply(action: Action<Allocation>): Result<Allocation> {
    const tenant = this.#byId.get(action.workload);
    if (tenant === undefined) return err(unknownWorkload(action.workload));
    const problem = problemOfAction(action);
    if (problem !== undefined) return err(problem);
    this.#rollout.apply(tenant.deployment, action);
    return ok(tenant.deployment.asked);
  }

  nodes(workload: WorkloadId): readonly NodeRoom[] {
    return roomFor(this.#state.nodes, this.find(workload).pods);
  }

  /** How many requests have no ending yet is for a rung to say. */
  truth(workload: WorkloadId, inFlight: number): WorkloadTruth {
    return this.#tenantOf(workload).truth.sinceLast(this.#state.now, inFlight);
  }

  #statusesOf({ pods }: Deployment): PodStatus[] {
    const statuses: PodStatus[] = [];
    for (const { stage, name, createdAt, readyAt, size, restarts, resize } of pods) {
      if (stage === "stopping") continue;
      const status: PodStatus = {
        pod: name,
        createdAt: milliseconds(this.#start + createdAt),
        readyAt: readyAt === null ? null : milliseconds(this.#start + readyAt),
        cpuLimit: millicores(size.cpu),
        memoryLimit: bytes(size.memory),
        cpu: null,
        memory: null,
        restarts,
      };
      if (resize !== undefined) status.resize = resize;
      statuses.push(status);
    }
    return statuses;
  }

  #tenantOf(workload: WorkloadId): Tenant {
    const tenant = this.#byId.get(workload);
    if (tenant === undefined) throw new CodedError(unknownWorkload(workload));
    return tenant;
  }
}

const unknownWorkload = (workload: WorkloadId): Failure =>
  failure("actuator.unknown-workload", `there is no workload ${workload} in this world: check its name`);

/** A guard stands before every world; what comes round it is refused, not repaired. */
function problemOfAction(action: Action<Allocation>): Failure | undefined {
  const { replicas = 0, cpu = 1, memory = 1 } = action.kind === "set" ? action.set : ({} as Partial<Allocation>);
  if (Number.isInteger(replicas) && replicas >= 0 && cpu > 0 && memory > 0 && Number.isFinite(cpu + memory))
    return undefined;
  return failure(
    "world.action",
    `${action.workload} was asked for ${replicas} replicas of ${cpu} millicores and ${memory} bytes: give a whole number of replicas and positive sizes`,
  );
}
