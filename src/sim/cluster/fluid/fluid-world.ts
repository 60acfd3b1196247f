/**
 * The fluid rung of the cluster world: all requests of a step together. START READING HERE.
 * Owns: how time passes, from one of a workload's few events (a pod is ready, a scrape is due) to the next.
 * Not here: what a step does to requests (fluid-flow.ts). Pods' lives, metrics, prices and scoring are not the fluid
 * rung's own at all: they are the event rung's, so the two can only differ in what happens to requests.
 */
import type { Action, Allocation, NodeRoom } from "../../../act/index.ts";
import type { Ms, Result, WorkloadId } from "../../../base/index.ts";
import { CodedError, failure, milliseconds, seededRng } from "../../../base/index.ts";
import type { WorkloadReading } from "../../../observe/telemetry/index.ts";
import { EventQueue } from "../../engine/index.ts";
import { type ClusterState, EVENT } from "../event/cluster-state.ts";
import { Deployment, type Pod, streamsOf } from "../event/deployment.ts";
import { emptyNode } from "../event/placement.ts";
import { RequestPool } from "../event/request-pool.ts";
import { Rollout } from "../event/rollout.ts";
import { metricsDefaults } from "../metrics/config.ts";
import { checkWorldOptions, problemOfApplication, type WorldOptions } from "../spec.ts";
import { Tenants } from "../tenants.ts";
import type { ClusterWorld, WorkloadTruth, WorkloadUpdate } from "../world.ts";
import { FluidFlow } from "./fluid-flow.ts";
import { LatencyWindow } from "./latency-window.ts";

export function fluidWorld(options: WorldOptions): ClusterWorld {
  checkWorldOptions(options);
  return new FluidWorld(options);
}

class FluidWorld implements ClusterWorld {
  readonly workloads: readonly WorkloadId[];
  readonly #start: number;
  readonly #interval: number;
  readonly #state: ClusterState;
  readonly #rollout: Rollout;
  readonly #tenants: Tenants;
  readonly #flows: readonly FluidFlow[];

  constructor({ seed, start, nodes, workloads, metrics }: WorldOptions) {
    const config = { ...metricsDefaults, ...metrics };
    const root = seededRng(seed).fork("cluster");
    this.#start = start;
    this.#interval = config.interval;
    this.workloads = workloads.map(({ id }) => id);
    const windows = workloads.map(() => new LatencyWindow(config.sloWindow));
    const deployments = workloads.map((spec, index) => {
      const outcomes = windows[index] as LatencyWindow;
      return new Deployment(spec, { index, streams: streamsOf(root.fork(spec.id)), outcomes });
    });
    // No request is ever looked at by itself, so there is room for none.
    const requests = new RequestPool(1);
    this.#state = { now: 0, queue: new EventQueue(), requests, pods: [], nodes: nodes.map(emptyNode), deployments };
    this.#rollout = new Rollout(this.#state, start);
    this.#flows = deployments.map((deployment, index) => {
      const window = windows[index] as LatencyWindow;
      return new FluidFlow(deployment, { window, watch: this.#rollout, start });
    });
    this.#rollout.connect({
      refresh: () => {},
      loseAll: (pod) => this.#flowOf(pod).loseAll(pod),
    });
    for (const deployment of deployments) {
      this.#rollout.begin(deployment);
      this.#state.queue.schedule(deployment.streams.metrics.next() * this.#interval, EVENT.scrape, deployment.index);
    }
    this.#tenants = new Tenants({ state: this.#state, rollout: this.#rollout, start, metrics: config });
  }

  get now(): Ms {
    return milliseconds(this.#start + this.#state.now);
  }

  advance(until: Ms): void {
    const end = until - this.#start;
    const state = this.#state;
    if (!(end >= state.now))
      throw new RangeError(`the world is at ${this.now} ms and cannot go to ${until}: time does not go back`);
    const { queue } = state;
    let isThere = false;
    while (!isThere) {
      while (queue.nextAt <= end) {
        queue.pop();
        this.#happen(queue.at, queue.kind, queue.subject);
      }
      isThere = true;
      for (const flow of this.#flows) isThere = this.#passTime(flow, end) && isThere;
    }
    state.now = end;
  }

  read(workload: WorkloadId): WorkloadReading {
    return this.#tenants.read(workload);
  }

  allocation(workload: WorkloadId): Allocation {
    return this.#tenants.find(workload).asked;
  }

  apply(action: Action<Allocation>): Result<Allocation> {
    return this.#tenants.apply(action);
  }

  nodes(workload: WorkloadId): readonly NodeRoom[] {
    return this.#tenants.nodes(workload);
  }

  truth(workload: WorkloadId): WorkloadTruth {
    const { index } = this.#tenants.find(workload);
    return this.#tenants.truth(workload, (this.#flows[index] as FluidFlow).inFlight);
  }

  update(workload: WorkloadId, { application, load }: WorkloadUpdate): void {
    const deployment = this.#tenants.find(workload);
    deployment.updates++;
    if (load !== undefined) this.#flows[deployment.index]?.changeLoad(load);
    if (application === undefined) return;
    const problem = problemOfApplication(application);
    if (problem !== undefined) throw new CodedError(failure("world.options", `workload ${workload} ${problem}`));
    this.#rollout.update(deployment, application);
  }

  #happen(at: number, kind: number, subject: number): void {
    const state = this.#state;
    const pod = kind === EVENT.scrape ? undefined : state.pods[subject];
    const index = pod === undefined ? subject : pod.deployment.index;
    if (!this.#passTime(this.#flows[index] as FluidFlow, at)) {
      // On the way there a pod was killed and will be back before this: first things first.
      const ticket = state.queue.schedule(at, kind, subject);
      if (pod !== undefined && state.pods[subject] === pod) {
        if (kind === EVENT.podResized) pod.resizeTicket = ticket;
        else pod.stageTicket = ticket;
      }
      return;
    }
    state.now = at;
    if (pod === undefined) {
      this.#tenants.scrape(subject);
      state.queue.schedule(at + this.#interval, EVENT.scrape, subject);
      // Time has passed in steps, and in one of them the pod may have gone, or begun another wait.
    } else if (kind === EVENT.podResized) {
      if (state.pods[subject] === pod && pod.resizeTicket !== 0) this.#rollout.becomeResized(pod);
    } else if (state.pods[subject] === pod && pod.stageTicket !== 0 && this.#isDue(pod, kind)) {
      if (kind === EVENT.podReady) this.#rollout.becomeReady(pod);
      else this.#rollout.graceOver(pod);
    }
  }

  #isDue({ stage }: Pod, kind: number): boolean {
    return stage === (kind === EVENT.podReady ? "starting" : "stopping");
  }

  /**
   * Step by step, since a step may end with a kill, which is an event at that moment. False when that put an event before
   * the end: it has to happen first.
   */
  #passTime(flow: FluidFlow, until: number): boolean {
    while (flow.now < until) {
      this.#state.now = flow.step(until);
      flow.settle();
      if (flow.now < until && this.#state.queue.nextAt < until) return false;
    }
    return true;
  }

  #flowOf(pod: Pod): FluidFlow {
    return this.#flows[pod.deployment.index] as FluidFlow;
  }
}
