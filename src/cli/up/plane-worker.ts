/**
 * Entry of the plane's thread: the world's time, the loops and the stores, away from the server's.
 * Owns: the pace, when updates are posted and states saved, and the way out. Not here: the plane itself (plane), the
 * other end of the messages (open-plane.ts).
 */
import { setTimeout as after } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { giveWay } from "../../adapters/runtime/index.ts";
import type { Failure, Result } from "../../base/index.ts";
import { failure, failureOf, milliseconds, ok } from "../../base/index.ts";
import type { PlaneUpdate, Readiness } from "../../contract/index.ts";
import type { CommandAnswer, TrajectoryPage } from "../../plane/index.ts";
import { Plane, trajectoryPage } from "../../plane/index.ts";
import type { AgentTrainer } from "../agents/agent-trainer.ts";
import { openAgentTrainer } from "../agents/agent-trainer.ts";
import { readSharedModel } from "../agents/shared-model-file.ts";
import { parseTargets } from "../config/index.ts";
import { openKernels } from "../kernels.ts";
import { loadModules } from "../modules/load-modules.ts";
import { packageVersion } from "../package-info.ts";
import { Pacing } from "./pacing.ts";
import type { FromPlane, PlaneSettings, ToPlane } from "./plane-messages.ts";
import { openPlaneWatch, type PlaneWatch } from "./plane-watch.ts";
import { openParts } from "./wiring.ts";

/** Ten posts a second at most: more than an eye sees, few enough for any stream. */
const POST_EVERY_MS = 100;
const SAVE_EVERY_MS = 5_000;
/** So that messages are heard while the world has nothing to do. */
const LONGEST_WAIT_MS = 50;

/** Whoever asks the API waits for an answer; the world's time does not mind. */
const PLANE_NICE = 10;

const port = parentPort;
if (port !== null) {
  giveWay(PLANE_NICE);
  void serve(workerData as PlaneSettings);
}

const post = (message: FromPlane): void => port?.postMessage(message);

async function serve(settings: PlaneSettings): Promise<void> {
  let training: AgentTrainer | undefined;
  let watch: PlaneWatch | undefined;
  try {
    const watching = openPlaneWatch({ env: process.env, version: packageVersion() });
    if (!watching.ok) return end(watching.failure);
    watch = watching.value;
    const kernels = openKernels(settings.kernels);
    const { modules } = settings;
    await loadModules(modules);
    training = openAgentTrainer({ threads: settings.trainingThreads, kernels, modules });
    const { seed, world, workloads, folder, sharedModel } = settings;
    const start = milliseconds(settings.start);
    const parts = await openParts({
      seed,
      world,
      demo: settings.demo,
      bootstrap: settings.bootstrap ?? false,
      workloads,
      targets: parseTargets(settings.targets),
      twin: settings.twin ?? null,
      folder,
      speed: settings.speed,
      start,
      kernels,
      shared: sharedModel === null ? undefined : readSharedModel(sharedModel, kernels),
      trainer: training.trainer,
      store: settings.store,
      isLockstep: false,
    });
    if (!parts.ok) return end(parts.failure);
    const { speed } = parts.value;
    const plane = new Plane(parts.value, watch);
    const begun = await plane.begin();
    if (!begun.ok) return end(begun.failure);
    const pacing = new Pacing(speed, { wall: performance.now(), world: plane.now });
    // Known before anybody can ask.
    const told = await tell(plane, pacing);
    if (!told.ok) return end(told.failure);
    const { kind } = parts.value.world;
    const { startedAt, tasks } = plane;
    post({ kind: "ready", world: { kind, tasks, startedAt }, past: plane.takePast() });
    const stop = listen(plane, pacing);
    const trouble = await run(plane, { pacing, stop });
    const saved = await plane.close();
    // Before the main thread hears that it is over, for it ends this one then, and the last spans with it.
    await watch.close();
    if (trouble) return end(trouble);
    share(plane.takeUpdates(performance.now()), 0);
    post({ kind: "stopped", saved: sendable(saved) });
  } catch (thrown) {
    end(failureOf(thrown) ?? broken(thrown));
  } finally {
    await training?.close();
    await watch?.close();
    port?.close();
  }
}

function listen(plane: Plane, pacing: Pacing): AbortSignal {
  const stop = new AbortController();
  port?.on("message", (message: ToPlane) => {
    if (message.kind === "stop") stop.abort();
    else void answer(plane, message, pacing);
  });
  return stop.signal;
}

async function answer(
  plane: Plane,
  message: Exclude<ToPlane, { readonly kind: "stop" }>,
  pacing: Pacing,
): Promise<void> {
  const { id } = message;
  try {
    const answered: Result<CommandAnswer | TrajectoryPage> =
      message.kind === "command"
        ? await plane.command(message.command, message.revision)
        : await trajectoryPage(plane.store, message.query);
    // Told first: whoever asks for something and then looks sees what came of it, also that it could not be saved.
    if (message.kind === "command") {
      tellReadiness(plane.readiness());
      await tell(plane, pacing);
    }
    post({ kind: "answer", id, answer: sendable(answered) });
  } catch (thrown) {
    post({ kind: "answer", id, answer: { ok: false, failure: plain(failureOf(thrown) ?? broken(thrown)) } });
  }
}

/** Until it is told to stop, or cannot save any more. */
async function run(
  plane: Plane,
  { pacing, stop }: { readonly pacing: Pacing; readonly stop: AbortSignal },
): Promise<Failure | undefined> {
  let told = Number.NEGATIVE_INFINITY;
  let savedAt = performance.now();
  while (!stop.aborted) {
    const wall = performance.now();
    if (wall - told >= POST_EVERY_MS) {
      const shared = await tell(plane, pacing);
      told = wall;
      if (!shared.ok) return shared.failure;
    }
    if (wall - savedAt >= SAVE_EVERY_MS) {
      const saved = plane.save();
      savedAt = wall;
      if (!saved.ok) return saved.failure;
    }
    const wait = pacing.wait({ wall, world: plane.nextMoment });
    if (wait >= 1) await after(Math.min(wait, LONGEST_WAIT_MS));
    else await plane.advance();
    pacing.note({ wall: performance.now(), world: plane.now });
  }
  return undefined;
}

async function tell(plane: Plane, { speed }: Pick<Pacing, "speed">): Promise<Result<void>> {
  const told = await plane.tell(performance.now());
  if (!told.ok) return told;
  share(told.value, speed);
  tellReadiness(plane.readiness());
  return ok(undefined);
}

let readinessTold = "";

function tellReadiness(readiness: Readiness): void {
  const text = JSON.stringify(readiness);
  if (text !== readinessTold) post({ kind: "readiness", readiness });
  readinessTold = text;
}

function share(updates: readonly PlaneUpdate[], speed: number): void {
  if (updates.length > 0) post({ kind: "updates", updates, speed });
}

const end = (why: Failure): void => post({ kind: "failed", failure: plain(why) });

/** A cause may be anything, and not everything can be cloned. */
const plain = ({ code, message, retry }: Failure): Failure => ({ code, message, retry });

const sendable = <T>(result: Result<T>): Result<T> =>
  result.ok ? result : { ok: false, failure: plain(result.failure) };

const broken = (thrown: unknown): Failure =>
  failure("plane.broken", `the control plane broke: ${thrown instanceof Error ? thrown.message : String(thrown)}`, {
    cause: thrown,
  });
