/**
 * The way to a work queue, opened for one command and closed with it.
 * Owns: the order of opening, and telling the log when the server goes and comes. Not here: the queue (adapters/nats).
 */
import { hostname } from "node:os";
import type { NatsLink, NatsOptions, WorkBuild } from "../../adapters/nats/index.ts";
import { connectNats, WorkQueue, WorkResults } from "../../adapters/nats/index.ts";
import { unwrap } from "../../base/index.ts";
import type { Session } from "../shell.ts";

export interface OpenQueue {
  readonly queue: WorkQueue;
  readonly results: WorkResults;
  readonly build: WorkBuild;
  /** This process, for others' logs. */
  readonly name: string;
  close(): Promise<void>;
}

export type QueueAccess = Pick<NatsOptions, "servers" | "access" | "tls" | "allowPlain">;

export async function openQueue(session: Session, access: QueueAccess, build: WorkBuild): Promise<OpenQueue> {
  const name = `${hostname()}:${process.pid}`.slice(-128);
  const link: NatsLink = unwrap(await connectNats({ ...access, name: `coxswain ${name}` }));
  link.onState((state) => {
    if (state === "disconnected") session.log.warn("the work queue's server is gone; it is tried again");
    if (state === "connected") session.log.info("the work queue's server is back");
  });
  try {
    const queue = unwrap(await WorkQueue.open({ connection: link.connection, build }));
    const results = unwrap(await WorkResults.open(link.connection, queue.mark));
    return { queue, results, build, name, close: () => link.close() };
  } catch (thrown) {
    await link.close();
    throw thrown;
  }
}
