/**
 * The control plane as the main thread has it: the server's port, over a thread of its own.
 * Owns: starting the thread, its messages, what happens when it is lost. Not here: what the thread does (plane-worker.ts).
 */
import { Worker } from "node:worker_threads";
import { loopHeap, workerEntry } from "../../adapters/runtime/index.ts";
import type { Failure, Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { ControlPlane, PlaneUpdate } from "../../server/index.ts";
import { Backlog } from "./backlog.ts";
import type { CommandAnswer } from "./commands.ts";
import type { FromPlane, PlaneSettings, ToPlane } from "./plane-messages.ts";
import type { TrajectoryPage } from "./trajectories.ts";

export interface RunningPlane extends ControlPlane {
  /** Resolves with the reason when the plane ends by itself; never, while all is well. */
  readonly lost: Promise<Failure>;
  /** What was told before a restart, oldest first, for whoever shows the past; once, for it is large. */
  takePast(): readonly PlaneUpdate[];
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
    resourceLimits: loopHeap(settings.workloads ?? USUAL_WORKLOADS),
  });
  const plane = new ThreadedPlane(worker, { stopMs: STOP_MS });
  const begun = await plane.begun;
  if (begun.ok) return ok(plane);
  await worker.terminate();
  return begun;
}

type Listener = (updates: readonly PlaneUpdate[]) => void;
type Answer = Result<CommandAnswer | TrajectoryPage>;

export class ThreadedPlane implements RunningPlane {
  readonly begun: Promise<Result<void>>;
  readonly lost: Promise<Failure>;
  readonly #worker: PlaneThread;
  readonly #stopMs: number;
  readonly #backlog = new Backlog();
  readonly #listeners = new Set<Listener>();
  readonly #asked = new Map<number, (answer: Answer) => void>();
  #ids = 0;
  #startedAt = 0;
  #past: readonly PlaneUpdate[] = [];
  #speed = 0;
  #isMeasured = false;
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

  get world() {
    return { kind: "simulated", startedAt: this.#startedAt };
  }

  get speed(): number {
    return this.#speed;
  }

  takePast(): readonly PlaneUpdate[] {
    const past = this.#past;
    this.#past = [];
    return past;
  }

  subscribe(take: Listener): () => void {
    const before = this.#backlog.all();
    if (before.length > 0) take(before);
    this.#listeners.add(take);
    return () => this.#listeners.delete(take);
  }

  command: ControlPlane["command"] = (command, { revision }) =>
    this.#ask((id) => ({ kind: "command", id, command, revision })) as Promise<Result<CommandAnswer>>;

  trajectories: ControlPlane["trajectories"] = (query) =>
    this.#ask((id) => ({ kind: "trajectories", id, query })) as Promise<Result<TrajectoryPage>>;

  readiness(): readonly string[] {
    if (this.#failure) return [this.#failure.message];
    if (this.#stopped) return ["the control plane has stopped"];
    return this.#isMeasured ? [] : ["nothing has been measured yet"];
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
        this.#startedAt = message.startedAt;
        this.#past = message.past;
        this.#begin(ok(undefined));
        return;
      case "updates":
        this.#speed = message.speed;
        this.#isMeasured ||= message.updates.some(({ kind }) => kind === "samples");
        this.#backlog.add(message.updates);
        for (const take of this.#listeners) take(message.updates);
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
