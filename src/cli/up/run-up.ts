/**
 * `coxswain up` from start to end: the plane, the server over it, and a summary.
 * Owns: the order of opening and closing, and what is said on the terminal. Not here: the plane (plane.ts), the API (server).
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { PlaneMetrics } from "../../adapters/observability/index.ts";
import { othersGiveWay, packageRoot } from "../../adapters/runtime/index.ts";
import type { Result } from "../../base/index.ts";
import { CodedError, ok, unwrap } from "../../base/index.ts";
import type { ServicesDocument } from "../../contract/index.ts";
import { learnerAlgorithm } from "../../control/tasks/pods/index.ts";
import type { AuditEntry, PoolShelf, RunningServer, StaticFiles, Token } from "../../server/index.ts";
import { openServer, openStaticFolder, openStudyFolder } from "../../server/index.ts";
import { sharedModelPath } from "../agents/shared-model-file.ts";
import { parseTargets, type StoreConfig, type WrittenTarget } from "../config/index.ts";
import { usageError } from "../failures.ts";
import type { KernelChoice } from "../kernels.ts";
import { loadModules } from "../modules/load-modules.ts";
import { findWorld } from "../modules/worlds.ts";
import { packageVersion } from "../package-info.ts";
import { hasColour, note, printLine, type Session } from "../shell.ts";
import { storeChoice } from "../store/open-store.ts";
import { AuditFile } from "./audit-file.ts";
import { type Banner, bannerText } from "./banner.ts";
import { defaultFolder, keepForOwner, prepareFolder, tightenFolder } from "./data-folder.ts";
import { joinedPlanes } from "./joined-planes.ts";
import { observePlane } from "./observing.ts";
import type { RunningPlane } from "./open-plane.ts";
import { openPlane, STUCK } from "./open-plane.ts";
import type { TwinKind } from "./pod-rules.ts";
import { openServices, type RunningServices } from "./services/open-services.ts";
import type { ServicesSettings } from "./services/services-messages.ts";
import { openSharedPool } from "./shared-pool.ts";
import { checkPorts } from "./start-checks.ts";
import type { WorkloadSummary } from "./summary.ts";
import { summaryTable, Tally } from "./summary.ts";
import type { DemoName } from "./wiring.ts";

export interface UpOptions {
  readonly data?: string | undefined;
  readonly port: number;
  readonly host: string;
  readonly tokenFile?: string | undefined;
  readonly duration?: number | undefined;
  readonly speed: number;
  /** Absent: pods. */
  readonly demo?: DemoName | undefined;
  /** Of functions: policies go on learning beside the loop. */
  readonly bootstrap?: boolean | undefined;
  readonly seed: number;
  readonly workloads?: number | undefined;
  /** Of the settings file; without any the demonstration's own workloads. */
  /** Of a module; empty: the simulated cluster. */
  readonly world: string;
  readonly targets: readonly WrittenTarget[];
  /** Of the simulated cluster; null: as before, or the tuned rules. */
  readonly twin: TwinKind | null;
  /** The folder of a finished pre-training. */
  readonly sharedModel?: string | undefined;
  readonly kernels: KernelChoice;
  readonly workers: number;
  readonly store: StoreConfig;
  /** The user's own, by their absolute paths. */
  readonly modules: readonly string[];
  readonly isQuiet: boolean;
  /** People read standard output: they are told more than the address. */
  readonly isForPeople: boolean;
  /** Where spans are taken; null: nowhere. */
  readonly otlp: Omit<NonNullable<ServicesSettings["otlp"]>, "tokens"> | null;
  /** The application of many services that is simulated; null for none. */
  readonly application: string | null;
  /** SLOs of request types, in milliseconds. */
  readonly requests: Readonly<Record<string, number>>;
}

export interface UpSummary {
  readonly url: string;
  readonly worldSeconds: number;
  readonly workloads: readonly WorkloadSummary[];
  readonly table: string;
}

/** As the plane's thread: all that runs beside the thread that answers people gives way to it. */
const BESIDE_NICE = 10;
const MEMORY = ":memory:";
/** Six in the morning: the day's load rises before the viewer's eyes. */
const START_HOUR = 6;
const DAY = 86_400_000;

export async function runUp(session: Session, options: UpOptions): Promise<UpSummary> {
  const back = keepForOwner();
  try {
    return await run(session, options);
  } finally {
    back();
  }
}

async function run(session: Session, options: UpOptions): Promise<UpSummary> {
  const { data, host, port, speed, seed, kernels, workers } = options;
  const folder = data === MEMORY ? null : resolve(session.cwd, data ?? defaultFolder(session.env));
  const threads = workers > 0 ? workers : Math.max(1, availableParallelism() - 1);
  const sharedModel = options.sharedModel === undefined ? null : sharedModelPath(options.sharedModel, session.cwd);
  const pool = sharedModel === null ? {} : await poolIn(session, sharedModel);
  const store = storeChoice(session, options.store);
  // Its time begins anew with every start, and episodes are named by it: the second start would contradict the first.
  if (folder === null && store.kind !== "embedded")
    throw usageError(`--data ${MEMORY} keeps nothing, so its records cannot be kept elsewhere either`, "name a folder");
  await loadModules(options.modules);
  if (options.world !== "") findWorld(options.world);
  // A learner that nobody brings is said here, in one line, and not by a thread.
  for (const { profile } of parseTargets(options.targets))
    if (profile.learner) unwrap(learnerAlgorithm(profile.learner));
  const { tokens, otlp } = await checkPorts(session, options);
  if (folder !== null) useFolder(session, folder);
  const start = Math.floor(Date.now() / DAY) * DAY + START_HOUR * 3_600_000;
  const { plane, services } = await openThreads(
    openPlane({
      seed,
      workloads: options.workloads ?? null,
      world: options.world,
      demo: options.demo,
      bootstrap: options.bootstrap ?? false,
      targets: options.targets,
      twin: options.twin,
      folder,
      speed,
      start,
      kernels,
      trainingThreads: threads,
      sharedModel,
      store,
      modules: options.modules,
    }),
    servicesOf(session, { ...options, otlp, folder }),
  );
  const tally = new Tally();
  plane.subscribe((updates) => tally.take(updates));
  const metrics = new PlaneMetrics();
  const observed = services === undefined ? [plane] : [plane, services];
  for (const one of observed) observePlane(one, { metrics });
  const dashboard = dashboardFiles(session);
  let server: RunningServer | undefined;
  let url = "";
  let isOver = false;
  try {
    server = await serve(session, plane, {
      host,
      port,
      tokens,
      folder,
      metrics,
      dashboard,
      ...pool,
      ...(services ? { services } : {}),
    });
    url = server.url;
    othersGiveWay(BESIDE_NICE);
    if (options.isForPeople && !options.isQuiet)
      greet(session, {
        version: packageVersion(),
        url,
        world: { kind: plane.world.kind, speed },
        workloads: tally.summaries(),
        hasFleet: tally.hasFleet,
        application: options.application,
        spans: await spanAddresses(services),
        folder,
        hasDashboard: dashboard !== undefined,
        duration: options.duration,
      });
    else if (!options.isQuiet) printLine(session, url);
    for (const lost of plane.readiness().notes) session.log.warn(lost);
    // After the address, which is the first thing to read; what came before it is told now.
    for (const one of observed) observePlane(one, { log: session.log });
    await untilOver(session, plane, options.duration);
    isOver = true;
  } finally {
    await server?.close();
    const [closed, hasStopped] = await Promise.all([plane.close(), services?.close() ?? true]);
    if (!hasStopped || (!closed.ok && closed.failure.code === STUCK)) session.leaveThreads?.();
    // Where something else went wrong, that is the one thing to say.
    if (!closed.ok && isOver) note(session, `coxswain: ${closed.failure.message}`);
  }
  const workloads = tally.summaries();
  const worldSeconds = Math.max(0, (tally.at - plane.world.startedAt) / 1_000);
  return { url, worldSeconds, workloads, table: summaryTable(workloads, session.stdout.columns) };
}

/** Others may have been able to read it until now: that is put right, and said. */
function useFolder(session: Session, folder: string): void {
  unwrap(prepareFolder(folder));
  const { closed, open } = tightenFolder(folder);
  if (closed > 0)
    session.log.warn({ folder, closed }, "other users could read the data folder: it is now its owner's alone");
  if (open.length > 0)
    session.log.warn(
      { folder, open: open.slice(0, 10) },
      "other users can read the data folder, and it is not ours to change",
    );
}

/** The banner, and a word when it ends: saving takes a second or two, and silence looks like a hang. */
function greet(session: Session, about: Banner): void {
  printLine(session, bannerText(about, { hasColour: hasColour(session, session.stdout) }));
  const saving = about.folder === null ? "" : ", saving the state";
  session.signal.addEventListener("abort", () => note(session, `\nstopping${saving}; Ctrl-C again ends it at once`), {
    once: true,
  });
}

/** What the services' thread opened: a port that was 0 or taken is known by it alone. */
async function spanAddresses(services: RunningServices | undefined): Promise<Banner["spans"]> {
  const answer = await services?.ask({ kind: "services" });
  if (!answer?.ok) return null;
  return (JSON.parse(new TextDecoder().decode(answer.value)) as ServicesDocument).listeners;
}

function dashboardFiles(session: Session): StaticFiles | undefined {
  const built = join(packageRoot(), "dashboard", "dist");
  const files = existsSync(built) ? openStaticFolder(built) : undefined;
  if (files?.ok) return files.value;
  session.log.warn("the dashboard is not built; only the API is served");
  return undefined;
}

interface Served {
  readonly host: string;
  readonly port: number;
  readonly tokens: readonly Token[];
  readonly folder: string | null;
  readonly metrics: PlaneMetrics;
  readonly dashboard: StaticFiles | undefined;
  readonly pool?: PoolShelf;
  readonly services?: RunningServices;
}

type ServicesWanted = Pick<ServicesSettings, "otlp" | "folder" | "application" | "seed" | "requests">;

/** Undefined where nobody wants any. */
async function servicesOf(
  session: Session,
  { otlp, application, seed, requests, folder }: ServicesWanted,
): Promise<Result<RunningServices | undefined>> {
  if (otlp === null && application === null) return ok(undefined);
  const settings = { folder, application, seed, requests, otlp };
  return openServices(settings, { say: (level, text) => session.log[level](text) });
}

/** Both begin at the same time, for a person waits; where one cannot, the other is not left behind. */
async function openThreads(
  opening: Promise<Result<RunningPlane>>,
  joining: Promise<Result<RunningServices | undefined>>,
): Promise<{ readonly plane: RunningPlane; readonly services: RunningServices | undefined }> {
  const [plane, services] = await Promise.all([opening, joining]);
  if (plane.ok && services.ok) return { plane: plane.value, services: services.value };
  await Promise.all([plane.ok ? plane.value.close() : undefined, services.ok ? services.value?.close() : undefined]);
  return { plane: unwrap(plane), services: unwrap(services) };
}

/**
 * Read once before anything begins, so that a wrong folder is said at once. It is no reason not to start: the workloads are
 * to be managed, and the agents say themselves what they make of the model.
 */
async function poolIn(session: Session, folder: string): Promise<Partial<Pick<Served, "pool">>> {
  const pool = openSharedPool(folder);
  const read = await pool.read();
  if (!read.ok) session.log.warn({ folder }, read.failure.message);
  return read.ok ? { pool } : {};
}

async function serve(
  session: Session,
  plane: RunningPlane,
  { host, port, tokens, folder, metrics, dashboard, pool, services }: Served,
): Promise<RunningServer> {
  const onFailure = (cause: unknown) => session.log.error({ err: cause }, "the audit log could not be written");
  const audit = folder === null ? undefined : new AuditFile(folder, onFailure);
  return unwrap(
    await openServer({
      plane: joinedPlanes(plane, services),
      options: {
        host,
        port,
        tokens,
        version: packageVersion(),
        metrics: () => metrics.text(),
        onAnswer: (answer) => metrics.answered(answer),
        onCrowded: () => metrics.crowded(),
        audit: (entry) => writeAudit(session, audit, entry),
        troubles: () => (audit === undefined || audit.isWritten ? [] : ["the audit log cannot be written"]),
        onDefect: (thrown) => session.log.error({ err: thrown }, "defect while answering a request"),
        studies: openStudyFolder(join(packageRoot(), "docs", "results"), {
          onUnreadable: (file, { message }) => session.log.warn({ file }, message),
        }),
        ...(pool ? { pool } : {}),
        ...(services ? { services } : {}),
        ...(dashboard ? { dashboard } : {}),
      },
    }),
  );
}

function writeAudit(session: Session, file: AuditFile | undefined, entry: AuditEntry): void {
  const { who, method, path, outcome, status } = entry;
  session.log.info({ ...entry, text: `${who}: ${method} ${path}: ${outcome} (${status})` }, "write");
  file?.write(entry);
}

/** Until the time is up, a person stops it, or the plane is lost, which is the only one of the three that is a failure. */
async function untilOver(session: Session, plane: RunningPlane, duration: number | undefined): Promise<void> {
  const timer = new AbortController();
  const stopped = new Promise<undefined>((resolve) => {
    if (session.signal.aborted) resolve(undefined);
    session.signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  const over =
    duration === undefined ? [] : [after(duration * 1_000, undefined, { signal: timer.signal }).catch(() => undefined)];
  const lost = await Promise.race([stopped, plane.lost, ...over]);
  timer.abort();
  if (lost !== undefined) throw new CodedError(lost);
}
