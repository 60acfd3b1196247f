/**
 * Entry of the thread that takes spans and knows services, away from the one that answers people and from the plane's.
 * Owns: opening and closing its parts, their pace, its messages. Not here: the parts, the other end of the messages
 * (open-services.ts).
 */
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import type { SpanJournal } from "../../../adapters/otlp/index.ts";
import { openSpanJournal } from "../../../adapters/otlp/index.ts";
import { giveWay, systemClock } from "../../../adapters/runtime/index.ts";
import { openTraceStore } from "../../../adapters/store/index.ts";
import type { Failure, Ms, Result } from "../../../base/index.ts";
import { err, failure, failureOf, ok } from "../../../base/index.ts";
import { Localizer } from "../../../control/localize/index.ts";
import { applicationNamed, hotelReservation } from "../../../sim/index.ts";
import { readActing } from "./acting-file.ts";
import { Answers } from "./answers.ts";
import { Mitigator } from "./mitigator.ts";
import { openSchool, type RunningSchool } from "./school.ts";
import { ServiceKnowledge, type Told } from "./service-knowledge.ts";
import type { FromServices, ServicesSettings, ToServices } from "./services-messages.ts";
import { SimulatedApplication } from "./simulated-application.ts";
import { type OpenDoors, openSpanDoors } from "./span-doors.ts";
import { TraceDesk } from "./trace-desk.ts";

/** As the plane's: whoever asks the API waits for an answer, spans do not mind. */
const NICE = 10;
/** Between two looks at the simulated application, and between two rounds of storing what is complete. */
const STEP_MS = 250;
const STEPS_PER_TURN = 4;
/** Its lessons are of the past, and what is seen later is not. */
const SCHOOL_BEFORE_MS = 3_600_000;
/** The oldest traces go when there are more spans. */
const MOST_SPANS = { memory: 200_000, folder: 2_000_000 };

const port = parentPort;
if (port !== null) {
  giveWay(NICE);
  void serve(workerData as ServicesSettings);
}

const post = (message: FromServices, transfer: readonly ArrayBuffer[] = []): void =>
  port?.postMessage(message, transfer);
const say = (level: "info" | "warn" | "error", text: string): void => post({ kind: "say", level, text });
const now = (): Ms => systemClock.now();

async function serve(settings: ServicesSettings): Promise<void> {
  let parts: Parts | undefined;
  try {
    const opened = await openParts(settings);
    if (!opened.ok) return post({ kind: "failed", failure: plain(opened.failure) });
    parts = opened.value;
    const stop = listen(parts.answers);
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

interface Parts {
  readonly desk: TraceDesk;
  readonly knowledge: ServiceKnowledge;
  readonly simulated: SimulatedApplication | null;
  readonly mitigator: Mitigator | null;
  readonly answers: Answers;
  close(): Promise<void>;
}

async function openParts({ folder, otlp, application, seed }: ServicesSettings): Promise<Result<Parts>> {
  const known = application === null ? null : applicationNamed(application);
  const store = await openTraceStore({
    path: folder === null ? ":memory:" : join(folder, "traces.duckdb"),
    maxSpans: folder === null ? MOST_SPANS.memory : MOST_SPANS.folder,
  });
  let journal: SpanJournal | null = null;
  let doors: OpenDoors | undefined;
  const fail = async (why: Failure): Promise<Result<never>> => {
    await doors?.close();
    await store.close();
    return err(why);
  };
  if (folder !== null) {
    const kept = openSpanJournal({ folder: join(folder, "spans") }, now());
    if (!kept.ok) return fail(kept.failure);
    journal = kept.value;
  }
  const knowledge = new ServiceKnowledge(new Localizer({ seed }));
  const desk = new TraceDesk({
    store,
    journal,
    now,
    onTraces: (traces, at) => knowledge.seeTraces(traces, at),
    onTrouble: (why) =>
      why === null
        ? say("info", "traces can be stored again")
        : say("error", `traces can not be stored: ${why.message} (${String(why.cause ?? "no cause is known")})`),
  });
  const recovered = await desk.recover();
  if (recovered > 0) say("info", `${recovered} spans that were taken before the last end are put together now`);
  const begun = await openSpanDoors(otlp, {
    sink: desk,
    onDefect: (thrown) => say("error", `a request with spans: ${String(thrown)}`),
  });
  if (!begun.ok) return fail(begun.failure);
  doors = begun.value;
  for (const problem of doors.doors.problems) say("warn", problem);
  const simulated = known === null ? null : new SimulatedApplication({ application: known, seed, now: now() });
  const mitigator = simulated === null ? null : mitigatorOf(simulated, folder);
  const answers = new Answers({
    ...{ now, doors: doors.doors, intake: doors.counts, desk, store, knowledge, simulated, mitigator, folder },
  });
  const opened = doors;
  const school = schoolFor({ application: (known ?? hotelReservation).name, seed, knowledge, mitigator });
  return ok({
    desk,
    knowledge,
    simulated,
    mitigator,
    answers,
    async close() {
      await school.close();
      await opened.close();
      await desk.close();
      await store.close();
    },
  });
}

function mitigatorOf(simulated: SimulatedApplication, folder: string | null): Mitigator {
  const { mode, since, problem } = readActing(folder);
  if (problem !== null) say("warn", problem);
  return new Mitigator({ port: simulated.port, wallOf: (at) => simulated.wallOf(at), mode, since });
}

interface Taught {
  readonly application: string;
  readonly seed: number;
  readonly knowledge: ServiceKnowledge;
  readonly mitigator: Mitigator | null;
}

function schoolFor({ application, seed, knowledge, mitigator }: Taught): RunningSchool {
  let learned: (() => Localizer) | undefined;
  const start = now() - SCHOOL_BEFORE_MS;
  return openSchool(
    { application, seed, start, wantsAgent: mitigator !== null },
    {
      onLocalizer(again) {
        learned = again;
        knowledge.use(again());
      },
      onAgent(agent) {
        if (learned !== undefined) mitigator?.graduate(agent, learned());
      },
      onFailure(why) {
        say("error", `the services' learner could not be trained: ${why}; Kubernetes autoscaling goes on`);
        mitigator?.giveUp(why);
      },
    },
  );
}

function listen(answers: Answers): AbortSignal {
  const stop = new AbortController();
  port?.on("message", (message: ToServices) => {
    if (message.kind === "stop") stop.abort();
    else void answer(answers, message);
  });
  return stop.signal;
}

async function answer(answers: Answers, { id, question }: Extract<ToServices, { kind: "ask" }>): Promise<void> {
  try {
    const found = await answers.to(question);
    if (!found.ok) return post({ kind: "answer", id, answer: err(plain(found.failure)) });
    const bytes = new Uint8Array(Buffer.from(JSON.stringify(found.value)));
    post({ kind: "answer", id, answer: ok(bytes) }, [bytes.buffer]);
  } catch (thrown) {
    post({ kind: "answer", id, answer: err(plain(failureOf(thrown) ?? lost(thrown))) });
  }
}

/** The application goes on while the store is busy: its requests do not wait for ours. */
async function run({ desk, knowledge, simulated, mitigator }: Parts, stop: AbortSignal): Promise<void> {
  let storing: Promise<void> | undefined;
  let defect: { readonly thrown: unknown } | undefined;
  for (let step = 1; !stop.aborted && defect === undefined; step++) {
    if (simulated !== null) desk.admit(simulated.advance(now()));
    mitigator?.turn();
    if (step % STEPS_PER_TURN === 0) {
      storing ??= desk
        .turn()
        .catch((thrown: unknown) => {
          defect = { thrown };
        })
        .finally(() => {
          storing = undefined;
        });
      knowledge.turn(now(), simulated === null ? null : toldBy(simulated));
    }
    await after(STEP_MS, undefined, { signal: stop }).catch(() => undefined);
  }
  await storing;
  if (defect !== undefined) throw defect.thrown;
}

function toldBy(simulated: SimulatedApplication): Told {
  const culprits = simulated.culprits();
  return {
    instances: simulated.instances(),
    requests: simulated.requests(),
    truth: { culprits, isWhole: culprits.length === simulated.anomalies().length },
  };
}

/** A cause may be anything, and not everything can be cloned. */
const plain = ({ code, message, retry }: Failure): Failure => ({ code, message, retry });

const lost = (thrown: unknown): Failure =>
  failure("services.lost", `what takes spans broke: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
