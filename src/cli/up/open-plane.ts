/**
 * The control plane as the main thread has it: the server's port, over a thread of its own.
 * Owns: starting the thread, its messages, what happens when it is lost. Not here: what the thread does (plane-worker.ts).
 */
import { Worker } from "node:worker_threads";
import { loopHeap, workerEntry } from "../../adapters/runtime/index.ts";
import type { Failure, Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { ControlPlane, ManagedWorld, Readiness, SubscribeOptions, TakeUpdates } from "../../contract/index.ts";
import type { CommandAnswer, TrajectoryPage } from "../../plane/index.ts";
import { UpdateFeed } from "../../plane/index.ts";
import type { FromPlane, PlaneSettings, ToPlane } from "./plane-messages.ts";

export interface RunningPlane extends ControlPlane {
  readonly world: ManagedWorld;
  /** Resolves with the reason when the plane ends by itself; never, while all is well. */
  readonly lost: Promise<Failure>;
  /** No more steps; resolves when everything is saved. */
  close(): Promise<Result<void>>;
}

/**
 * After this long nobody waits any more for a thread that was asked to stop. It is left as it is then: the database ends
 * the whole process with `Napi::Error` where its thread is stopped in the middle of a query. Long, because on a busy
 * machine the last queries take a while. Whoever will not wait asks a second time, which is safe (main.ts).
 */
const STOP_MS = 60_000;

/** Where nobody said how many: a guess, for the size of the thread's heap only. */
const USUAL_WORKLOADS = 4;

/** What is needed of the plane's thread. */
export type PlaneThread = Pick<Worker, "on" | "postMessage" | "terminate">;

export async function openPlane(settings: PlaneSettings): Promise<Result<RunningPlane>> {
  const worker = new Worker(workerEntry("./plane-worker.ts", import.meta.url), {
    workerData: settings,
    resourceLimits: loopHeap(settings.targets.length || (settings.workloads ?? USUAL_WORKLOADS)),
  });
  const plane = new ThreadedPlane(worker, { stopMs: STOP_MS });
  const begun = await plane.begun;
  if (begun.ok) return ok(plane);
  await worker.terminate();
  return begun;
}

type Answer = Result<CommandAnswer | TrajectoryPage>;

export class ThreadedPlane implements RunningPlane {
  readonly begun: Promise<Result<void>>;
  readonly lost: Promise<Failure>;
  readonly #worker: PlaneThread;
  readonly #stopMs: number;
  readonly #feed = new UpdateFeed();
  readonly #asked = new Map<number, (answer: Answer) => void>();
  #ids = 0;
  #world: ManagedWorld = { kind: "simulated", tasks: [], startedAt: 0, speed: 0 };
  #isMeasured = false;
  #readiness: Readiness = { reasons: [], notes: [] };
  #failure: Failure | undefined;
  #begin: (begun: Result<void>) => void = () => undefined;
  #lose: (why: Failure) => void = () => undefined;
  #stopped: Result<void> | undefined;
  #onStopped: (saved: Result<void>) => void = () => undefined;

  constructor(worker: PlaneThread, { stopMs }: { readonly stopMs: number }) {
    this.#worker = worker;
    this.#stopMs = stopMs;
    this.begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
    worker.on("message", (message: FromPlane) => this.#hear(message));
    worker.on("error", (cause) => this.#fail(gone(cause.message, cause)));
    worker.on("exit", (code) => this.#fail(gone(`it ended with code ${code}`)));
  }

  get world(): ManagedWorld {
    return this.#world;
  }

  get worlds(): readonly ManagedWorld[] {
    return [this.#world];
  }

  subscribe(take: TakeUpdates, options?: SubscribeOptions): () => void {
    return this.#feed.subscribe(take, options);
  }

  command: ControlPlane["command"] = (command, { revision }) =>
    this.#ask((id) => ({ kind: "command", id, command, revision })) as Promise<Result<CommandAnswer>>;

  trajectories: ControlPlane["trajectories"] = (query) =>
    this.#ask((id) => ({ kind: "trajectories", id, query })) as Promise<Result<TrajectoryPage>>;

  readiness(): Readiness {
    const { reasons, notes } = this.#readiness;
    if (this.#failure) return { reasons: ["the control plane has ended"], notes };
    if (this.#stopped) return { reasons: ["the control plane has stopped"], notes };
    return { reasons: this.#isMeasured ? reasons : ["nothing has been measured yet", ...reasons], notes };
  }

  async close(): Promise<Result<void>> {
    if (this.#failure) return err(this.#failure);
    if (this.#stopped) return this.#stopped;
    const stopped = new Promise<Result<void>>((resolve) => {
      this.#onStopped = resolve;
    });
    this.#send({ kind: "stop" });
    const late = setTimeout(() => this.#onStopped(err(stuck(this.#stopMs))), this.#stopMs);
    const saved = await stopped;
    clearTimeout(late);
    if (saved.ok || saved.failure.code !== STUCK) await this.#worker.terminate();
    return saved;
  }

  #send(message: ToPlane): void {
    this.#worker.postMessage(message);
  }

  #ask(make: (id: number) => ToPlane): Promise<Answer> {
    if (this.#failure) return Promise.resolve(err(this.#failure));
    const id = ++this.#ids;
    return new Promise((resolve) => {
      this.#asked.set(id, resolve);
      this.#send(make(id));
    });
  }

  #hear(message: FromPlane): void {
    switch (message.kind) {
      case "ready":
        this.#world = { ...this.#world, ...message.world };
        this.#feed.addPast(message.past);
        this.#begin(ok(undefined));
        return;
      case "updates":
        this.#world = { ...this.#world, speed: message.speed };
        this.#isMeasured ||= message.updates.some(({ kind }) => kind === "samples");
        this.#feed.add(message.updates);
        return;
      case "readiness":
        this.#readiness = message.readiness;
        return;
      case "answer":
        this.#asked.get(message.id)?.(message.answer);
        this.#asked.delete(message.id);
        return;
      case "failed":
        this.#fail(message.failure);
        return;
      case "stopped":
        this.#stopped = message.saved;
        this.#onStopped(message.saved);
        return;
    }
  }

  /** Nobody waits for a thread that is gone. */
  #fail(why: Failure): void {
    if (this.#failure || this.#stopped) return;
    this.#failure = why;
    this.#begin(err(why));
    this.#lose(why);
    this.#onStopped(err(why));
    for (const resolve of this.#asked.values()) resolve(err(why));
    this.#asked.clear();
  }
}

/** The thread is still there, and must not be touched. */
export const STUCK = "plane.stuck";

const stuck = (ms: number): Failure<typeof STUCK> =>
  failure(
    STUCK,
    `the control plane did not stop within ${ms / 1_000} s, a query or a write is stuck; it ends here, and all that was answered is saved: look at the disk behind --data, then start it again`,
  );

const gone = (why: string, cause?: unknown): Failure =>
  failure("plane.lost", `the control plane's thread is gone: ${why}; start it again, it goes on from its last save`, {
    retry: true,
    ...(cause === undefined ? {} : { cause }),
  });
