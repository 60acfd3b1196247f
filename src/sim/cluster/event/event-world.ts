/**
 * The event rung of the cluster world: every request, every pod, every scrape. START READING HERE.
 * Owns: the loop over events, and which of them there are.
 * Not here: requests (request-flow.ts), pods' lives (rollout.ts), CPU under a quota (cpu-clock.ts), reading, acting and
 * scoring (../tenants.ts).
 *
 * Pods do not disturb each other on a node: limits are reserved in full (requests are equal to limits) and never
 * oversold, so contention is left to the worlds that are about it.
 */
import type { Action, Allocation, NodeRoom } from "../../../act/index.ts";
import type { Ms, Result, WorkloadId } from "../../../base/index.ts";
import { assertNever, CodedError, failure, milliseconds, seededRng } from "../../../base/index.ts";
import type { WorkloadReading } from "../../../observe/telemetry/index.ts";
import { EventQueue } from "../../engine/index.ts";
import { metricsDefaults } from "../metrics/config.ts";
import { Outcomes } from "../metrics/outcomes.ts";
import { checkWorldOptions, problemOfApplication, type WorldOptions } from "../spec.ts";
import { Tenants } from "../tenants.ts";
import { arrivals, requestLength } from "../workloads/index.ts";
import type { ClusterWorld, WorkloadTruth, WorkloadUpdate } from "../world.ts";
import { type ClusterState, EVENT } from "./cluster-state.ts";
import { Deployment, type Pod, streamsOf } from "./deployment.ts";
import { emptyNode, type NodeState } from "./placement.ts";
import { type Balancing, RequestFlow } from "./request-flow.ts";
import { RequestPool } from "./request-pool.ts";
import { Rollout } from "./rollout.ts";

export interface EventWorldOptions extends WorldOptions {
  readonly balancing?: Balancing;
}

/** What only this rung has: nodes that are lost while the world runs. */
export interface EventClusterWorld extends ClusterWorld {
  /** The node with most of a workload's pods, the first of several; none where no pod has a node. */
  homeOf(workload: WorkloadId): string | undefined;
  /** Gone at once, with its pods and their requests; the pods are placed on others and start there. */
  loseNode(name: string): void;
  /** Back, and empty; only what is placed from then on goes there. */
  returnNode(name: string): void;
}

export function eventWorld(options: EventWorldOptions): EventClusterWorld {
  checkWorldOptions(options);
  return new EventWorld(options);
}

class EventWorld implements EventClusterWorld {
  readonly workloads: readonly WorkloadId[];
  readonly #start: number;
  readonly #interval: number;
  readonly #state: ClusterState;
  readonly #flow: RequestFlow;
  readonly #rollout: Rollout;
  readonly #tenants: Tenants;

  constructor({ seed, start, nodes, workloads, metrics, balancing = "two-choices" }: EventWorldOptions) {
    const config = { ...metricsDefaults, ...metrics };
    const root = seededRng(seed).fork("cluster");
    this.#start = start;
    this.#interval = config.interval;
    this.workloads = workloads.map(({ id }) => id);
    const stride = Math.max(...workloads.map(({ application }) => requestLength(application)));
    this.#state = {
      now: 0,
      queue: new EventQueue(),
      requests: new RequestPool(stride),
      pods: [],
      nodes: nodes.map(emptyNode),
      deployments: workloads.map((spec, index) => {
        return new Deployment(spec, {
          index,
          streams: streamsOf(root.fork(spec.id)),
          outcomes: new Outcomes(config.sloWindow),
        });
      }),
    };
    this.#rollout = new Rollout(this.#state, start);
    this.#flow = new RequestFlow(this.#state, { balancing, watch: this.#rollout });
    this.#rollout.connect(this.#flow);
    for (const deployment of this.#state.deployments) {
      this.#rollout.begin(deployment);
      this.#state.queue.schedule(deployment.streams.metrics.next() * this.#interval, EVENT.scrape, deployment.index);
      this.#drawArrivals(deployment);
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
    while (queue.nextAt <= end) {
      queue.pop();
      state.now = queue.at;
      this.#happen(queue.kind, queue.subject);
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
    return this.#tenants.truth(workload, this.#state.requests.countClients(index));
  }

  update(workload: WorkloadId, { application, load }: WorkloadUpdate): void {
    const deployment = this.#tenants.find(workload);
    deployment.updates++;
    if (load !== undefined) {
      this.#state.queue.cancel(deployment.arrivalTicket);
      this.#drawArrivals(deployment, load);
    }
    if (application === undefined) return;
    const problem = problemOfApplication(application);
    if (problem !== undefined) throw new CodedError(failure("world.options", `workload ${workload} ${problem}`));
    this.#flow.widen(requestLength(application));
    this.#rollout.update(deployment, application);
  }

  homeOf(workload: WorkloadId): string | undefined {
    const counts = new Map<string, number>();
    for (const { node } of this.#tenants.find(workload).pods)
      if (node !== undefined) counts.set(node.spec.name, (counts.get(node.spec.name) ?? 0) + 1);
    const most = Math.max(...counts.values());
    return [...counts].find(([, count]) => count === most)?.[0];
  }

  loseNode(name: string): void {
    const node = this.#node(name);
    if (!node.isLost) this.#rollout.loseNode(node);
  }

  returnNode(name: string): void {
    const node = this.#node(name);
    if (node.isLost) this.#rollout.returnNode(node);
  }

  #node(name: string): NodeState {
    const found = this.#state.nodes.find(({ spec }) => spec.name === name);
    if (found === undefined)
      throw new CodedError(failure("world.options", `there is no node ${name} in this world; check the name`));
    return found;
  }

  #happen(kind: number, subject: number): void {
    const { deployments, pods } = this.#state;
    switch (kind as (typeof EVENT)[keyof typeof EVENT]) {
      case EVENT.cpuDone: {
        const pod = pods[subject] as Pod;
        pod.cpuTicket = 0;
        this.#flow.cpuDone(pod);
        break;
      }
      case EVENT.waitDone:
        this.#flow.waitDone(subject);
        break;
      case EVENT.arrival:
        this.#arrive(deployments[subject] as Deployment);
        break;
      case EVENT.retry:
        this.#flow.retry(subject);
        break;
      case EVENT.deadline:
        this.#flow.giveUpDue(deployments[subject] as Deployment);
        break;
      case EVENT.podReady:
        this.#rollout.becomeReady(pods[subject] as Pod);
        break;
      case EVENT.podResized:
        this.#rollout.becomeResized(pods[subject] as Pod);
        break;
      case EVENT.graceOver:
        this.#rollout.graceOver(pods[subject] as Pod);
        break;
      case EVENT.scrape:
        this.#scrape(subject);
        break;
      default:
        assertNever(kind as never);
    }
  }

  #arrive(deployment: Deployment): void {
    this.#flow.arrive(deployment);
    this.#scheduleArrival(deployment);
  }

  #scrape(index: number): void {
    const { now, queue } = this.#state;
    this.#tenants.scrape(index);
    queue.schedule(now + this.#interval, EVENT.scrape, index);
  }

  /** A stream of its own for each load, so that the arrivals after an update do not depend on when it came. */
  #drawArrivals(deployment: Deployment, load = deployment.spec.load): void {
    const rng = deployment.streams.arrivals.fork(deployment.updates);
    deployment.arrivals = arrivals(load, rng, this.now);
    this.#scheduleArrival(deployment);
  }

  #scheduleArrival(deployment: Deployment): void {
    const at = (deployment.arrivals?.next() ?? Number.POSITIVE_INFINITY) - this.#start;
    // Beyond the end of time: a load of nothing.
    if (at === Number.POSITIVE_INFINITY) return;
    deployment.arrivalTicket = this.#state.queue.schedule(
      Math.max(at, this.#state.now),
      EVENT.arrival,
      deployment.index,
    );
  }
}
