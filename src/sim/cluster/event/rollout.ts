/**
 * Pods' lives: creation, placement, start, resize, replacement, kill, drain, end. Both rungs use it.
 * Owns: leading the pods of a deployment to what is asked for, by level: it may be called at any time, any number of
 * times, and does what is missing. Not here: requests (request-flow.ts), metrics.
 *
 * A resize in place has the outcomes that a kubelet reports: in progress until the limits are written; deferred while the
 * node has no room, and done once it has; infeasible where the node could never hold it: then the pod stays as it is. One
 * thing is harsher here: a memory limit below what requests hold kills the pod, where Kubernetes 1.35 would first look and
 * wait.
 */
import type { Action, Allocation, Followers } from "../../../act/index.ts";
import { afterAction } from "../../../act/index.ts";
import { bytes, milliseconds } from "../../../base/index.ts";
import type { Ticket } from "../../engine/index.ts";
import { mechanics } from "../mechanics.ts";
import { processorOf } from "../processors.ts";
import type { Application } from "../workloads/index.ts";
import { type ClusterState, EVENT } from "./cluster-state.ts";
import { CpuClock } from "./cpu-clock.ts";
import { type Deployment, Pod } from "./deployment.ts";
import { chooseNode, couldHold, hasRoom, hold, type NodeState, type PodSize, release } from "./placement.ts";
import { compileApplication } from "./program.ts";
import type { PodWatch, RequestFlow } from "./request-flow.ts";

/** How long the first pods have been running when the world begins. */
const RUNNING_SINCE = 3_600_000;

const sizeOf = ({ cpu, memory }: Allocation): PodSize => ({ cpu, memory });
const isSame = (a: PodSize, b: PodSize): boolean => a.cpu === b.cpu && a.memory === b.memory;
const largerOf = (a: PodSize, b: PodSize): PodSize => ({
  cpu: Math.max(a.cpu, b.cpu),
  memory: Math.max(a.memory, b.memory),
});

/** What is done to the requests of a pod when its life changes; either rung's. */
export type PodContents = Pick<RequestFlow, "refresh" | "loseAll">;

export class Rollout implements PodWatch {
  readonly #state: ClusterState;
  /** World time of moment zero: kills are told in world time. */
  readonly #start: number;
  #flow: PodContents | undefined;

  constructor(state: ClusterState, start: number) {
    this.#state = state;
    this.#start = start;
  }

  /** The two halves know each other; this closes the circle. */
  connect(flow: PodContents): void {
    this.#flow = flow;
  }

  /** The pods that are there when the world begins: ready, and warm. */
  begin(deployment: Deployment): void {
    const createdAt = -Math.min(RUNNING_SINCE, Math.max(0, this.#start));
    for (let i = 0; i < deployment.asked.replicas; i++) {
      const pod = this.#create(deployment, createdAt);
      if (pod.node === undefined || pod.exceedsMemory(deployment.program)) continue;
      this.#state.queue.cancel(pod.stageTicket);
      this.#markReady(pod, createdAt);
      pod.warmAt = Number.NEGATIVE_INFINITY;
    }
    deployment.podsStarted = 0;
  }

  apply(deployment: Deployment, action: Action<Allocation>): void {
    deployment.asked = afterAction(deployment.asked, action);
    if (action.kind === "set" && isResize(action)) this.#resize(deployment, action);
    this.#reconcile(deployment);
  }

  /** Another version, or other requests: what runs takes it as it is. */
  update(deployment: Deployment, application: Application): void {
    const { now } = this.#state;
    deployment.program = compileApplication(application);
    deployment.programs.push(deployment.program);
    // A copy: a pod that is killed, or gone, changes the list.
    for (const pod of [...deployment.pods]) {
      if (pod.node === undefined) continue;
      pod.cpu.advance(now);
      pod.cpu.setCores(this.#coresOf(pod));
      if (pod.stage !== "starting" && pod.exceedsMemory(deployment.program)) this.outOfMemory(pod);
      else {
        deployment.countMemory(pod, now);
        this.#flow?.refresh(pod);
      }
    }
  }

  becomeReady(pod: Pod): void {
    const { deployment } = pod;
    pod.stageTicket = 0;
    if (pod.exceedsMemory(deployment.program)) {
      this.outOfMemory(pod);
      return;
    }
    this.#markReady(pod, this.#state.now);
    this.#reconcile(deployment);
  }

  #markReady(pod: Pod, at: number): void {
    const { deployment } = pod;
    pod.stageTicket = 0;
    pod.stage = "ready";
    pod.isBackingOff = false;
    pod.readyAt = at;
    pod.warmAt = at + deployment.program.coldSpan;
    deployment.ready.push(pod);
    deployment.countMemory(pod, this.#state.now);
  }

  outOfMemory(pod: Pod): void {
    const { now } = this.#state;
    const { deployment } = pod;
    deployment.oomKills++;
    deployment.disruptions++;
    deployment.kills.push({
      pod: pod.name,
      at: milliseconds(this.#start + now),
      memoryLimit: bytes(pod.size.memory),
    });
    if (pod.stage === "stopping") {
      this.#flow?.loseAll(pod);
      this.#end(pod);
      return;
    }
    if (pod.readyAt !== null && now - pod.readyAt >= mechanics.crashForgottenAfter) pod.crashes = 0;
    const { first, most } = mechanics.crashBackoff;
    const backoff = pod.crashes === 0 ? 0 : Math.min(first * 2 ** (pod.crashes - 1), most);
    this.#leaveReady(pod);
    pod.stage = "starting";
    pod.isBackingOff = backoff > 0;
    pod.readyAt = null;
    pod.crashes++;
    pod.restarts++;
    this.#flow?.loseAll(pod);
    deployment.countMemory(pod, now);
    pod.stageTicket = this.#schedule(now + backoff + this.#startup(pod, true), EVENT.podReady, pod);
    this.#reconcile(deployment);
  }

  /** The fluid rung passes time in steps up to an event, so what follows of a step can lie before the event just taken. */
  #schedule(at: number, kind: number, pod: Pod): Ticket {
    const { queue } = this.#state;
    return queue.schedule(Math.max(at, queue.at), kind, pod.index);
  }

  /** The node is gone at once: no grace for its pods, whose requests are lost with them; others take their place elsewhere. */
  loseNode(node: NodeState): void {
    node.isLost = true;
    node.images.clear();
    for (const deployment of this.#state.deployments) {
      const there = deployment.pods.filter((pod) => pod.node === node);
      for (const pod of there) {
        if (pod.stage === "ready") deployment.disruptions++;
        this.#leaveReady(pod);
        this.#flow?.loseAll(pod);
        // Losing its requests may have ended one that was stopping.
        if (pod.node !== undefined) this.#end(pod);
      }
      if (there.length > 0) this.#reconcile(deployment);
    }
  }

  /** As empty as a new one. */
  returnNode(node: NodeState): void {
    node.isLost = false;
    this.#useRoom();
  }

  ranEmpty(pod: Pod): void {
    this.#end(pod);
  }

  graceOver(pod: Pod): void {
    pod.stageTicket = 0;
    this.#flow?.loseAll(pod);
    this.#end(pod);
  }

  #resize(deployment: Deployment, { followers }: Followers): void {
    const size = sizeOf(deployment.asked);
    const inPlace = deployment.spec.resize !== "recreate";
    let isWaiting = false;
    for (const pod of deployment.pods) {
      if (pod.stage === "stopping" || pod.stage === "gone") continue;
      const follows = followers === undefined || followers.includes(pod.name);
      if (pod.stage === "pending") {
        isWaiting = true;
        pod.size = size;
        pod.wanted = size;
        pod.held = size;
      } else if (follows && inPlace) {
        pod.wanted = size;
        this.#tryResize(pod);
      } else if (follows) pod.isOutdated = !isSame(pod.size, size);
    }
    // Nobody has given up any room yet, but a smaller pod may find some.
    if (isWaiting) this.#useRoom();
  }

  /** In place: granted at once where the node has room, done a moment later; else when there is room, or never. */
  #tryResize(pod: Pod): void {
    const { now } = this.#state;
    const { node, wanted, size } = pod;
    if (node === undefined || pod.resize === "in-progress") return;
    if (isSame(wanted, size)) {
      pod.resize = undefined;
      return;
    }
    const held = largerOf(wanted, size);
    if (!couldHold(node, wanted)) pod.resize = "infeasible";
    else if (!hasRoom(node, held, pod.held)) {
      if (pod.resize !== "deferred") pod.deferredSince = now;
      pod.resize = "deferred";
    } else {
      this.#unhold(pod);
      pod.held = held;
      this.#hold(pod);
      pod.resize = "in-progress";
      pod.resizeTicket = this.#schedule(now + mechanics.resize, EVENT.podResized, pod);
    }
  }

  /** The limits are written: those that are wanted now, which may have changed on the way and then take another turn. */
  becomeResized(pod: Pod): void {
    const { now } = this.#state;
    const { deployment } = pod;
    pod.resizeTicket = 0;
    pod.resize = undefined;
    if (pod.stage === "stopping" || pod.stage === "gone") return;
    const granted = {
      cpu: Math.min(pod.wanted.cpu, pod.held.cpu),
      memory: Math.min(pod.wanted.memory, pod.held.memory),
    };
    const isRoomFreed = granted.cpu < pod.held.cpu || granted.memory < pod.held.memory;
    this.#unhold(pod);
    pod.size = granted;
    pod.held = granted;
    this.#hold(pod);
    pod.cpu.advance(now);
    pod.cpu.setLimit(granted.cpu / 1_000);
    if (pod.stage !== "starting" && pod.exceedsMemory(deployment.program)) this.outOfMemory(pod);
    else {
      deployment.countMemory(pod, now);
      this.#flow?.refresh(pod);
    }
    // A smaller size may be what a waiting pod, or another workload, was waiting for.
    if (isRoomFreed) this.#useRoom();
    else this.#tryResize(pod);
  }

  /** Where a new pod is the way out: those whose node refuses them, or has had no room for too long. */
  #giveUpInPlace(deployment: Deployment): void {
    if (deployment.spec.resize !== "in-place-or-recreate") return;
    const since = this.#state.now - mechanics.resizeDeferred;
    for (const pod of deployment.pods) {
      const isStuck = pod.resize === "infeasible" || (pod.resize === "deferred" && pod.deferredSince <= since);
      if (isStuck && pod.stage !== "stopping") pod.isOutdated = true;
    }
  }

  /** Makes as many pods as are asked for, one more while outdated ones are replaced, and takes away what is too much. */
  #reconcile(deployment: Deployment): void {
    const { replicas } = deployment.asked;
    this.#giveUpInPlace(deployment);
    if (isAsAsked(deployment)) return;
    for (;;) {
      const live = deployment.pods.filter(({ stage }) => stage !== "stopping" && stage !== "gone");
      const outdated = live.filter(({ isOutdated }) => isOutdated);
      const most = replicas + (outdated.length > 0 ? 1 : 0);
      if (live.length < most) {
        this.#create(deployment);
        continue;
      }
      if (live.length > most) {
        this.#stop(leastMissed(live));
        continue;
      }
      if (outdated.length === 0) return;
      const next = leastMissed(outdated);
      const ready = live.filter(({ stage }) => stage === "ready").length;
      // Without room for one more, an old one goes first: waiting for room would be waiting for ever. One at a time.
      const isStuck =
        ready === replicas && live.length === deployment.pods.length && live.some(({ stage }) => stage === "pending");
      // One that is not ready is no loss; one that is may go when its successor is ready too.
      if (next.stage === "ready" && ready <= replicas && !isStuck) return;
      this.#stop(next);
    }
  }

  #create(deployment: Deployment, createdAt = this.#state.now): Pod {
    const { now, pods } = this.#state;
    const number = deployment.podsCreated++;
    const free = pods.indexOf(undefined);
    const index = free >= 0 ? free : pods.length;
    const size = sizeOf(deployment.asked);
    const cpu = new CpuClock({ at: now, phase: 0, limit: size.cpu / 1_000, cores: 1 });
    const pod = new Pod({ index, number, deployment, createdAt, size, cpu });
    pods[index] = pod;
    deployment.pods.push(pod);
    this.#place(pod);
    return pod;
  }

  /** Stays pending where no node has room. */
  #place(pod: Pod): void {
    const { now, nodes } = this.#state;
    const { deployment } = pod;
    const node = chooseNode(nodes, pod.size);
    if (node === undefined) return;
    // Draws by the pod's number: the third pod is as fast as the third pod of any other run, whenever it starts.
    const rng = deployment.streams.pods.fork(pod.number);
    const { speed, sigma } = processorOf(node.spec.processor);
    pod.node = node;
    pod.stage = "starting";
    pod.speed = speed * Math.exp(sigma * rng.normal() - 0.5 * sigma * sigma);
    pod.cpu = new CpuClock({
      at: now,
      phase: rng.next() * mechanics.quotaPeriod,
      limit: pod.size.cpu / 1_000,
      cores: this.#coresOf(pod),
    });
    this.#hold(pod);
    deployment.podsStarted++;
    const image = deployment.program.application.id;
    const isWarm = node.images.has(image);
    node.images.add(image);
    pod.stageTicket = this.#schedule(now + this.#startup(pod, isWarm), EVENT.podReady, pod);
    deployment.countMemory(pod, now);
  }

  #startup({ deployment, number, restarts }: Pod, isWarm: boolean): number {
    const { mean, sigma } = deployment.program.application.startup;
    const rng = deployment.streams.pods.fork(number).fork(`start ${restarts}`);
    const cold = mean * Math.exp(sigma * rng.normal() - 0.5 * sigma * sigma);
    return isWarm ? cold * mechanics.warmStart : cold;
  }

  #coresOf({ node, deployment }: Pod): number {
    return Math.min(deployment.program.threads, (node?.spec.cpu ?? 1_000) / 1_000);
  }

  #stop(pod: Pod): void {
    const { now, queue } = this.#state;
    if (pod.stageTicket !== 0) queue.cancel(pod.stageTicket);
    pod.stageTicket = 0;
    if (pod.stage === "ready") pod.deployment.disruptions++;
    this.#leaveReady(pod);
    pod.isOutdated = false;
    if (pod.connections === 0) {
      this.#end(pod);
      return;
    }
    pod.stage = "stopping";
    pod.stageTicket = this.#schedule(now + mechanics.grace, EVENT.graceOver, pod);
  }

  #end(pod: Pod): void {
    const { now, queue, pods } = this.#state;
    const { deployment } = pod;
    if (pod.stageTicket !== 0) queue.cancel(pod.stageTicket);
    if (pod.cpuTicket !== 0) queue.cancel(pod.cpuTicket);
    if (pod.resizeTicket !== 0) queue.cancel(pod.resizeTicket);
    const wasPlaced = pod.node !== undefined;
    if (wasPlaced) {
      pod.cpu.advance(now);
      deployment.cpuOfGone += pod.cpu.used;
      deployment.podsStopped++;
      this.#unhold(pod);
    }
    pod.stage = "gone";
    pod.node = undefined;
    deployment.countMemory(pod, now);
    pods[pod.index] = undefined;
    deployment.pods.splice(deployment.pods.indexOf(pod), 1);
    if (wasPlaced) this.#useRoom();
  }

  #leaveReady(pod: Pod): void {
    const { ready } = pod.deployment;
    const place = ready.indexOf(pod);
    if (place >= 0) ready.splice(place, 1);
  }

  #hold(pod: Pod): void {
    const { node, held, deployment } = pod;
    if (node === undefined) return;
    hold(node, held);
    deployment.settleHeld(this.#state.now);
    deployment.millicoresHeld += held.cpu;
    deployment.bytesHeld += held.memory;
  }

  #unhold(pod: Pod): void {
    const { node, held, deployment } = pod;
    if (node === undefined) return;
    release(node, held);
    deployment.settleHeld(this.#state.now);
    deployment.millicoresHeld -= held.cpu;
    deployment.bytesHeld -= held.memory;
  }

  /** Room has become free: for pods that wait for it, and for those that could not grow, whose ever they are. */
  #useRoom(): void {
    for (const deployment of this.#state.deployments) {
      // Nobody comes or goes by it, so that the list itself can be gone through.
      for (const pod of deployment.pods) {
        if (pod.stage === "pending") this.#place(pod);
        else if (pod.stage !== "stopping" && pod.stage !== "gone") this.#tryResize(pod);
      }
    }
  }
}

/** As many pods as are asked for, and none to be replaced: told apart without lists, for it is so after nearly every step. */
function isAsAsked({ pods, asked }: Deployment): boolean {
  let live = 0;
  for (const { stage, isOutdated } of pods) {
    if (stage === "stopping" || stage === "gone") continue;
    if (isOutdated) return false;
    live++;
  }
  return live === asked.replicas;
}

const rank = (pod: Pod): number => (pod.stage === "pending" ? 0 : pod.stage === "starting" ? 1 : 2);

/** As a ReplicaSet chooses: without a node first, then not ready, then the youngest. */
function leastMissed(pods: readonly Pod[]): Pod {
  let chosen = pods[0] as Pod;
  for (const pod of pods)
    if (rank(pod) < rank(chosen) || (rank(pod) === rank(chosen) && isYounger(pod, chosen))) chosen = pod;
  return chosen;
}

const isYounger = (a: Pod, b: Pod): boolean => a.createdAt >= b.createdAt;

/** Named followers take a size that was asked for before. */
const isResize = ({ set: { cpu, memory }, followers }: Extract<Action<Allocation>, { kind: "set" }>): boolean =>
  cpu !== undefined || memory !== undefined || (followers !== undefined && followers.length > 0);
