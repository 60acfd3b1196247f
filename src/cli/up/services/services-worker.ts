/**
 * Entry of the thread that takes spans and knows services, away from the one that answers people and from the plane's.
 * Owns: opening and closing its parts, their pace, its messages. Not here: the parts, the other end of the messages
 * (open-services.ts).
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import type { JournalDamage, SpanJournal } from "../../../adapters/otlp/index.ts";
import { openSpanJournal } from "../../../adapters/otlp/index.ts";
import { giveWay, loadKernels, systemClock } from "../../../adapters/runtime/index.ts";
import { openTraceStore } from "../../../adapters/store/index.ts";
import type { Failure, Ms, Result } from "../../../base/index.ts";
import { err, failure, failureOf, ok } from "../../../base/index.ts";
import type { PlaneUpdate, ServicesQuestion } from "../../../contract/index.ts";
import { Localizer } from "../../../control/localize/index.ts";
import { type CommandAnswer, type TrajectoryPage, trajectoryPage } from "../../../plane/index.ts";
import { applicationNamed, hotelReservation } from "../../../sim/index.ts";
import { openAgentTrainer } from "../../agents/agent-trainer.ts";
import { Answers } from "./answers.ts";
import { BrokenUploads } from "./broken-uploads.ts";
import { Mitigator, modeFor } from "./mitigator.ts";
import { openPretraining, type RunningPretraining } from "./pretraining.ts";
import { RequestSlos } from "./request-slos.ts";
import { ServiceKnowledge } from "./service-knowledge.ts";
import { readServices } from "./services-file.ts";
import type { FromServices, ServicesSettings, ToServices } from "./services-messages.ts";
import { type OpenServicesPlane, openServicesPlane } from "./services-plane.ts";
import { ReadinessTeller, type ServicesCondition } from "./services-readiness.ts";
import { ServicesWorld, serviceId } from "./services-world.ts";
import { SimulatedApplication } from "./simulated-application.ts";
import { type OpenListeners, openSpanListeners } from "./span-listeners.ts";
import { TracePipeline } from "./trace-pipeline.ts";

/** As the plane's: whoever asks the API waits for an answer, spans do not mind. */
const NICE = 10;
/** Between two looks at the simulated application, and between two rounds of storing what is complete. */
const STEP_MS = 250;
const STEPS_PER_TURN = 4;
/** Pre-training is of the past, and what is seen later is not. */
const PRETRAINING_BEFORE_MS = 3_600_000;
/** The oldest traces go when there are more spans. */
const MOST_SPANS = { memory: 200_000, folder: 2_000_000 };
/** Agents of services train one after another: their networks are small. */
const TRAINING_THREADS = 1;
const SAVE_EVERY_STEPS = 20;
/** Between two words that what spans tell has changed: traces are seconds old anyway, and whoever looks asks for all of it. */
const CHANGED_EVERY_STEPS = 10;

const NO_DAMAGE: JournalDamage = { places: 0, bytes: 0, files: [] };

const port = parentPort;
if (port !== null) {
  giveWay(NICE);
  void serve(workerData as ServicesSettings);
}

const post = (message: FromServices, transfer: readonly ArrayBuffer[] = []): void =>
  port?.postMessage(message, transfer);
const say = (level: "info" | "warn" | "error", text: string): void => post({ kind: "say", level, text });
const tell = (updates: readonly PlaneUpdate[]): void => {
  if (updates.length > 0) post({ kind: "updates", updates });
};
const now = (): Ms => systemClock.now();

async function serve(settings: ServicesSettings): Promise<void> {
  let parts: Parts | undefined;
  try {
    const opened = await openParts(settings);
    if (!opened.ok) return post({ kind: "failed", failure: plain(opened.failure) });
    parts = opened.value;
    const stop = listen(parts);
    post({ kind: "ready" });
    await run(parts, stop);
    await parts.close();
    post({ kind: "stopped" });
  } catch (thrown) {
    await parts?.close().catch(() => undefined);
    post({ kind: "failed", failure: plain(failureOf(thrown) ?? lost(thrown)) });
  } finally {
    port?.close();
  }
}

/** The simulated application and whoever acts on it. */
interface Managed {
  readonly simulated: SimulatedApplication;
  readonly mitigator: Mitigator;
  readonly world: ServicesWorld;
}

interface Parts {
  readonly pipeline: TracePipeline;
  readonly knowledge: ServiceKnowledge;
  readonly managed: Managed | null;
  readonly answers: Answers;
  readonly intake: OpenListeners["counts"];
  /** Set when there is a policy to begin with. */
  readonly opening: { policy: Uint8Array | null | undefined };
  readonly readiness: ReadinessTeller;
  /** Opens the plane of the services' agents. */
  openPlane(policy: Uint8Array | undefined): Promise<void>;
  close(): Promise<void>;
}

async function openParts(settings: ServicesSettings): Promise<Result<Parts>> {
  const { folder, otlp, application, seed, requests } = settings;
  const known = application === null ? null : applicationNamed(application);
  const store = await openTraceStore({
    path: folder === null ? ":memory:" : join(folder, "traces.duckdb"),
    maxSpans: folder === null ? MOST_SPANS.memory : MOST_SPANS.folder,
  });
  let journal: SpanJournal | null = null;
  let listeners: OpenListeners | undefined;
  const fail = async (why: Failure): Promise<Result<never>> => {
    await listeners?.close();
    await store.close();
    return err(why);
  };
  if (folder !== null) {
    const kept = openSpanJournal({ folder: join(folder, "spans") }, now());
    if (!kept.ok) return fail(kept.failure);
    journal = kept.value;
  }
  const read = readServices(folder);
  if (!read.ok) return fail(read.failure);
  const saved = read.value;
  const slos = new RequestSlos(requests, saved.sloMs);
  const { name } = known ?? hotelReservation;
  const knowledge = new ServiceKnowledge({
    localizer: new Localizer({ seed }),
    idOf: (service) => serviceId(name, service),
  });
  knowledge.setSlos(slos.inForce);
  const hadAgents = known !== null && folder !== null && existsSync(join(folder, "services", "plane.json"));
  let agents: ServicesCondition["agents"] = hadAgents ? "awaited" : "none";
  const readiness = new ReadinessTeller(
    () => ({
      isTroubled: pipeline.isTroubled,
      damage: journal?.damage() ?? NO_DAMAGE,
      agents: plane?.plane.readiness() ?? agents,
    }),
    (told) => post({ kind: "readiness", readiness: told }),
  );
  let plane: OpenServicesPlane | undefined;
  const pipeline = new TracePipeline({
    store,
    journal,
    now,
    monotonic: () => systemClock.monotonic(),
    onSpans: (batch, at) => knowledge.seeSpans(batch, at),
    onTraces: (traces, at) => knowledge.seeTraces(traces, at),
    onTrouble(why) {
      if (why === null) say("info", "spans and traces can be kept again");
      else say("error", `spans or traces cannot be kept: ${why.message} (${String(why.cause ?? "no cause is known")})`);
      readiness.tell();
    },
  });
  const recovered = await pipeline.recover();
  if (recovered > 0) say("info", `${recovered} spans that were taken before the last end are put together now`);
  const { places, bytes, files } = journal?.damage() ?? NO_DAMAGE;
  if (places > 0)
    say(
      "error",
      `the span journal is damaged in ${places} place${places === 1 ? "" : "s"} (${bytes} bytes in ${files.join(", ")}): the acknowledged spans there are lost, all others were recovered; check the disk`,
    );
  const begun = await openSpanListeners(otlp, {
    sink: pipeline,
    onDefect: (thrown) => say("error", `a request with spans: ${String(thrown)}`),
  });
  if (!begun.ok) return fail(begun.failure);
  listeners = begun.value;
  for (const problem of listeners.listeners.problems) say("warn", problem);
  const managed = known === null ? null : managedOf(known, { knowledge, pipeline, seed, ...saved });
  const answers = new Answers({
    now,
    listeners: listeners.listeners,
    intake: listeners.counts,
    pipeline,
    store,
    knowledge,
    slos,
    simulated: managed?.simulated ?? null,
    mitigator: managed?.mitigator ?? null,
    folder,
    saved,
  });
  const opened = listeners;
  const opening: Parts["opening"] = { policy: undefined };
  const pretraining = pretrainingFor({ application: name, seed, knowledge, managed, opening });
  readiness.tell();
  return ok({
    pipeline,
    knowledge,
    managed,
    answers,
    intake: opened.counts,
    opening,
    readiness,
    async openPlane(policy) {
      if (managed === null) return;
      const { simulated, world, mitigator } = managed;
      const { mode } = mitigator.document();
      const kernels = loadKernels();
      const made = await openServicesPlane({
        folder,
        simulated,
        world,
        kernels,
        policy,
        mode: modeFor(mode),
        seed,
        training: openAgentTrainer({ threads: TRAINING_THREADS, kernels }),
      });
      if (!made.ok) {
        say("error", `the services' agents could not begin: ${made.failure.message}; Kubernetes autoscaling goes on`);
        mitigator.giveUp(made.failure.message);
        agents = "lost";
        return readiness.tell();
      }
      plane = made.value;
      const { tasks, startedAt } = plane.plane;
      post({
        kind: "managed",
        world: { kind: "simulated", tasks, startedAt, speed: 1 },
        past: plane.plane.takePast(),
      });
      mitigator.use(plane.plane);
    },
    async close() {
      await pretraining.close();
      await opened.close();
      const closed = await plane?.close();
      if (closed?.ok === false) say("error", closed.failure.message);
      await pipeline.close();
      await store.close();
    },
  });
}

interface ManagedOptions {
  readonly knowledge: ServiceKnowledge;
  readonly pipeline: TracePipeline;
  readonly seed: number;
  readonly mode: "observe" | "act";
  readonly since: number | null;
}

function managedOf(
  application: ReturnType<typeof applicationNamed>,
  { knowledge, pipeline, seed, mode, since }: ManagedOptions,
): Managed {
  const simulated = new SimulatedApplication({ application, seed, now: now() });
  const world = new ServicesWorld({ simulated, knowledge, pipeline });
  return { simulated, world, mitigator: new Mitigator({ simulated, knowledge, world, mode, since }) };
}

interface Pretrained {
  readonly application: string;
  readonly seed: number;
  readonly knowledge: ServiceKnowledge;
  readonly managed: Managed | null;
  readonly opening: Parts["opening"];
}

function pretrainingFor({ application, seed, knowledge, managed, opening }: Pretrained): RunningPretraining {
  const start = now() - PRETRAINING_BEFORE_MS;
  return openPretraining(
    { application, seed, start, wantsPolicy: managed !== null },
    {
      onLocalizer: (localizer) => knowledge.use(localizer),
      onPolicy: (policy) => {
        opening.policy = policy;
      },
      onFailure(why) {
        say("error", `the services' policy could not be trained: ${why}; agents begin with nothing learned`);
        managed?.mitigator.giveUp(why);
        // Their lives go on without: they bootstrap, and are judged, as every agent.
        opening.policy = null;
      },
    },
  );
}

function listen(parts: Parts): AbortSignal {
  const stop = new AbortController();
  port?.on("message", (message: ToServices) => {
    if (message.kind === "stop") stop.abort();
    else if (message.kind === "ask") void answer(parts.answers, message);
    else void obey(parts, message);
  });
  return stop.signal;
}

/** What is asked of the services' agents. */
async function obey(
  { managed }: Parts,
  message: Extract<ToServices, { kind: "command" | "trajectories" }>,
): Promise<void> {
  const { id } = message;
  try {
    const plane = managed?.mitigator.plane ?? null;
    if (plane === null) return post({ kind: "done", id, answer: err(NO_AGENTS) });
    const answered: Result<CommandAnswer | TrajectoryPage> =
      message.kind === "command"
        ? await plane.command(message.command, message.revision)
        : await trajectoryPage(plane.store, message.query);
    // Told first: whoever asks for something and then looks sees what came of it.
    if (message.kind === "command") tell((await managed?.mitigator.newest()) ?? []);
    post({ kind: "done", id, answer: answered.ok ? answered : err(plain(answered.failure)) });
  } catch (thrown) {
    post({ kind: "done", id, answer: err(plain(failureOf(thrown) ?? lost(thrown))) });
  }
}

const NO_AGENTS = failure(
  "services.no-agents",
  "the services have no agents yet: their policy is still being trained",
  {
    retry: true,
  },
);

async function answer(answers: Answers, { id, question }: Extract<ToServices, { kind: "ask" }>): Promise<void> {
  try {
    const found = await answers.to(question);
    // As above.
    if (found.ok && WRITES.has(question.kind)) tellChanged();
    if (!found.ok) return post({ kind: "answer", id, answer: err(plain(found.failure)) });
    const bytes = new Uint8Array(Buffer.from(JSON.stringify(found.value)));
    post({ kind: "answer", id, answer: ok(bytes) }, [bytes.buffer]);
  } catch (thrown) {
    post({ kind: "answer", id, answer: err(plain(failureOf(thrown) ?? lost(thrown))) });
  }
}

const WRITES: ReadonlySet<ServicesQuestion["kind"]> = new Set([
  "inject-anomaly",
  "stop-anomaly",
  "set-acting",
  "set-request-slo",
]);

const tellChanged = (): void => tell([{ kind: "services", at: now() }]);

/** The application goes on while the store is busy: its requests do not wait for ours. */
async function run(parts: Parts, stop: AbortSignal): Promise<void> {
  const { pipeline, knowledge, managed, opening, answers, intake } = parts;
  const broken = new BrokenUploads();
  let version = answers.version;
  let storing: Promise<void> | undefined;
  let defect: { readonly thrown: unknown } | undefined;
  for (let step = 1; !stop.aborted && defect === undefined; step++) {
    if (opening.policy !== undefined) {
      const { policy } = opening;
      opening.policy = undefined;
      await parts.openPlane(policy ?? undefined);
    }
    if (managed !== null) await move(managed, step);
    // After the updates: whoever is told that it is ready finds the agents as they were.
    parts.readiness.tell();
    if (step % STEPS_PER_TURN === 0) {
      const uploads = broken.sentence(intake(), now());
      if (uploads !== null) say("info", uploads);
      storing ??= pipeline
        .turn()
        .catch((thrown: unknown) => {
          defect = { thrown };
        })
        .finally(() => {
          storing = undefined;
        });
      if (managed === null) knowledge.turn(now(), null);
    }
    if (step % CHANGED_EVERY_STEPS === 0 && answers.version !== version) {
      version = answers.version;
      tellChanged();
    }
    await after(STEP_MS, undefined, { signal: stop }).catch(() => undefined);
  }
  await storing;
  if (defect !== undefined) throw defect.thrown;
}

async function move({ mitigator }: Managed, step: number): Promise<void> {
  await mitigator.advance(now());
  const updates = mitigator.takeUpdates();
  tell(updates);
  if (step % SAVE_EVERY_STEPS !== 0) return;
  const saved = mitigator.plane?.save();
  if (saved?.ok === false) say("error", saved.failure.message);
}

/** A cause may be anything, and not everything can be cloned. */
const plain = ({ code, message, retry }: Failure): Failure => ({ code, message, retry });

const lost = (thrown: unknown): Failure =>
  failure("services.lost", `what takes spans broke: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
