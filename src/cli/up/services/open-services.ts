/**
 * Spans and services as the main thread has them: the server's port, over a thread of its own.
 * Owns: starting the thread, its messages, what is answered when it is gone. Not here: what the thread does
 * (services-worker.ts).
 */
import { Worker } from "node:worker_threads";
import { workerEntry } from "../../../adapters/runtime/index.ts";
import type { Failure, Result } from "../../../base/index.ts";
import { err, failure, ok } from "../../../base/index.ts";
import type {
  ControlPlane,
  ManagedWorld,
  Readiness,
  ServicesPlane,
  ServicesQuestion,
} from "../../../contract/index.ts";
import { type CommandAnswer, type TrajectoryPage, UpdateFeed } from "../../../plane/index.ts";
import type { FromServices, ServicesSettings, ToServices } from "./services-messages.ts";

/** Its `worlds` are none until the services have agents. */
export interface RunningServices extends ServicesPlane, ControlPlane {
  /** Spans that wait are stored; resolves when the thread has ended, or false when it would not. */
  close(): Promise<boolean>;
}

export interface OpenServicesOptions {
  readonly say: (level: "info" | "warn" | "error", text: string) => void;
}

/** As for the plane: a thread in the middle of a query is better left than stopped (open-plane.ts). */
const STOP_MS = 30_000;
/** Spans of a second, and the store's own rows: far from the plane's. */
const YOUNG_MB = 48;

type Answer = Result<Uint8Array<ArrayBuffer>>;
type Done = Result<CommandAnswer | TrajectoryPage>;

export async function openServices(
  settings: ServicesSettings,
  { say }: OpenServicesOptions,
): Promise<Result<RunningServices>> {
  const worker = new Worker(workerEntry("./services-worker.ts", import.meta.url), {
    workerData: settings,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  const services = new ThreadedServices(worker, say);
  const begun = await services.begun;
  if (begun.ok) return ok(services);
  await worker.terminate();
  return begun;
}

class ThreadedServices implements RunningServices {
  readonly begun: Promise<Result<void>>;
  readonly #worker: Worker;
  readonly #say: OpenServicesOptions["say"];
  readonly #asked = new Map<number, (answer: Answer) => void>();
  readonly #wished = new Map<number, (done: Done) => void>();
  readonly #feed = new UpdateFeed();
  worlds: readonly ManagedWorld[] = [];
  #readiness: Readiness = { reasons: [], notes: [] };
  #ids = 0;
  #isBegun = false;
  #failure: Failure | undefined;
  #begin: (begun: Result<void>) => void = () => undefined;
  #onStopped: (isStopped: boolean) => void = () => undefined;

  constructor(worker: Worker, say: OpenServicesOptions["say"]) {
    this.#worker = worker;
    this.#say = say;
    this.begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
    worker.on("message", (message: FromServices) => this.#hear(message));
    worker.on("error", (cause) => this.#fail(lost(cause.message, cause)));
    worker.on("exit", (code) => this.#fail(lost(`it ended with code ${code}`)));
  }

  ask(question: ServicesQuestion): Promise<Answer> {
    if (this.#failure !== undefined) return Promise.resolve(err(this.#failure));
    const id = ++this.#ids;
    return new Promise((resolve) => {
      this.#asked.set(id, resolve);
      this.#send({ kind: "ask", id, question });
    });
  }

  subscribe: RunningServices["subscribe"] = (take, options) => this.#feed.subscribe(take, options);

  command: RunningServices["command"] = (command, { revision }) =>
    this.#wish((id) => ({ kind: "command", id, command, revision })) as Promise<Result<CommandAnswer>>;

  trajectories: RunningServices["trajectories"] = (query) =>
    this.#wish((id) => ({ kind: "trajectories", id, query })) as Promise<Result<TrajectoryPage>>;

  #wish(make: (id: number) => ToServices): Promise<Done> {
    if (this.#failure !== undefined) return Promise.resolve(err(this.#failure));
    const id = ++this.#ids;
    return new Promise((resolve) => {
      this.#wished.set(id, resolve);
      this.#send(make(id));
    });
  }

  /** The workloads are managed without the thread, so its loss is no reason. */
  readiness(): Readiness {
    const { notes } = this.#readiness;
    if (this.#failure === undefined) return this.#readiness;
    return { reasons: [], notes: [...notes, "spans are not taken any more: what takes them has ended"] };
  }

  async close(): Promise<boolean> {
    if (this.#failure !== undefined) return true;
    const stopped = new Promise<boolean>((resolve) => {
      this.#onStopped = resolve;
    });
    this.#send({ kind: "stop" });
    const late = setTimeout(() => this.#onStopped(false), STOP_MS);
    const isStopped = await stopped;
    clearTimeout(late);
    this.#isBegun = false;
    this.#fail(lost("it was stopped"));
    if (isStopped) await this.#worker.terminate();
    return isStopped;
  }

  #send(message: ToServices): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromServices): void {
    switch (message.kind) {
      case "ready":
        this.#isBegun = true;
        this.#begin(ok(undefined));
        return;
      case "answer":
        this.#asked.get(message.id)?.(message.answer);
        this.#asked.delete(message.id);
        return;
      case "done":
        this.#wished.get(message.id)?.(message.answer);
        this.#wished.delete(message.id);
        return;
      case "managed":
        this.worlds = [message.world];
        this.#feed.addPast(message.past);
        return;
      case "updates":
        this.#feed.add(message.updates);
        return;
      case "readiness":
        this.#readiness = message.readiness;
        return;
      case "say":
        this.#say(message.level, message.text);
        return;
      case "failed":
        this.#fail(message.failure);
        return;
      case "stopped":
        this.#onStopped(true);
        return;
    }
  }

  /** The workloads are managed without it, so this is told and no more. */
  #fail(why: Failure): void {
    if (this.#failure !== undefined) return;
    this.#failure = why;
    if (this.#isBegun) this.#say("error", why.message);
    this.#begin(err(why));
    this.#onStopped(true);
    for (const resolve of this.#asked.values()) resolve(err(why));
    this.#asked.clear();
    for (const resolve of this.#wished.values()) resolve(err(why));
    this.#wished.clear();
  }
}

const lost = (why: string, cause?: unknown): Failure =>
  failure(
    "services.lost",
    `the thread that takes spans is gone (${why}); the rest goes on: start it again to have it back`,
    {
      retry: true,
      ...(cause === undefined ? {} : { cause }),
    },
  );
