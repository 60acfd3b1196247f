/** What the parts of the event world share: the clock, the queue, requests, pods, nodes, and what kinds of events there are. */
import type { EventQueue } from "../../engine/index.ts";
import type { Deployment, Pod } from "./deployment.ts";
import type { NodeState } from "./placement.ts";
import type { RequestPool } from "./request-pool.ts";

/** The subject of an event: a deployment's, pod's or request's index. */
export const EVENT = {
  arrival: 0,
  cpuDone: 1,
  waitDone: 2,
  deadline: 3,
  retry: 4,
  podReady: 5,
  graceOver: 6,
  scrape: 7,
  podResized: 8,
} as const;

/** Times inside are milliseconds since the world began, which keeps them exact; the face adds the start. */
export interface ClusterState {
  now: number;
  readonly queue: EventQueue;
  readonly requests: RequestPool;
  /** By index; a place is used again once its pod is gone. */
  readonly pods: (Pod | undefined)[];
  readonly nodes: readonly NodeState[];
  readonly deployments: readonly Deployment[];
}
