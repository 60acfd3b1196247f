/**
 * `coxswain up` from start to end: the plane, the server over it, and a summary.
 * Owns: the order of opening and closing, and what is said on the terminal. Not here: the plane (plane.ts), the API (server).
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { PlaneMetrics } from "../../adapters/observability/index.ts";
import { othersGiveWay, packageRoot } from "../../adapters/runtime/index.ts";
import type { Result } from "../../base/index.ts";
import { CodedError, failure, ok, unwrap } from "../../base/index.ts";
import type { AuditEntry, PoolShelf, RunningServer, Token } from "../../server/index.ts";
import { openServer, openStaticFolder, openStudyFolder } from "../../server/index.ts";
import { usageError } from "../failures.ts";
import type { KernelChoice } from "../kernels.ts";
import { packageVersion } from "../package-info.ts";
import { note, printLine, type Session } from "../shell.ts";
import { observePlane } from "./observing.ts";
import type { RunningPlane } from "./open-plane.ts";
import { openPlane, STUCK } from "./open-plane.ts";
import { defaultFolder, prepareFolder } from "./saved-plane.ts";
import { openServices, type RunningServices } from "./services/open-services.ts";
import type { ServicesSettings } from "./services/services-messages.ts";
import { openSharedPool } from "./shared-pool.ts";
import type { WorkloadSummary } from "./summary.ts";
import { summaryTable, Tally } from "./summary.ts";

export interface UpOptions {
  readonly data?: string | undefined;
  readonly port: number;
  readonly host: string;
  readonly tokenFile?: string | undefined;
  readonly duration?: number | undefined;
  readonly speed: number;
  readonly seed: number;
  readonly workloads?: number | undefined;
  /** The folder of a finished pre-training. */
  readonly sharedModel?: string | undefined;
  readonly kernels: KernelChoice;
  readonly workers: number;
  readonly isQuiet: boolean;
  /** Where spans are taken; null: nowhere. */
  readonly otlp: Omit<NonNullable<ServicesSettings["otlp"]>, "tokens"> | null;
  /** The application of many services that is simulated; null for none. */
  readonly application: string | null;
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
  const { data, host, port, speed, seed, kernels, workers } = options;
  const folder = data === MEMORY ? null : resolve(session.cwd, data ?? defaultFolder(session.env));
  const { tokens, senders } =
    options.tokenFile === undefined ? NO_TOKENS : readTokens(resolve(session.cwd, options.tokenFile));
  const threads = workers > 0 ? workers : Math.max(1, availableParallelism() - 1);
  const sharedModel = options.sharedModel === undefined ? null : resolve(session.cwd, options.sharedModel);
  const pool = sharedModel === null ? {} : await poolIn(session, sharedModel);
  if (folder !== null) unwrap(prepareFolder(folder));
  const start = Math.floor(Date.now() / DAY) * DAY + START_HOUR * 3_600_000;
  const { plane, services } = await openThreads(
    openPlane({
      seed,
      workloads: options.workloads ?? null,
      folder,
      speed,
      start,
      kernels,
      trainingThreads: threads,
      sharedModel,
    }),
    servicesOf(session, { ...options, folder, senders }),
  );
  const tally = new Tally();
  plane.subscribe((updates) => tally.take(updates));
  const metrics = new PlaneMetrics();
  observePlane(plane, { metrics, log: session.log });
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
      ...pool,
      ...(services ? { services } : {}),
    });
    url = server.url;
    othersGiveWay(BESIDE_NICE);
    if (!options.isQuiet) printLine(session, url);
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

interface Served {
  readonly host: string;
  readonly port: number;
  readonly tokens: readonly Token[];
  readonly folder: string | null;
  readonly metrics: PlaneMetrics;
  readonly pool?: PoolShelf;
  readonly services?: RunningServices;
}

interface ServicesWanted extends Pick<UpOptions, "otlp" | "application" | "seed"> {
  readonly folder: string | null;
  readonly senders: readonly string[];
}

/** Undefined where nobody wants any. */
async function servicesOf(
  session: Session,
  { otlp, application, seed, folder, senders }: ServicesWanted,
): Promise<Result<RunningServices | undefined>> {
  if (otlp === null && application === null) return ok(undefined);
  const settings = { folder, application, seed, otlp: otlp === null ? null : { ...otlp, tokens: senders } };
  return openServices(settings, { say: (level, text) => session.log[level](text) });
}

/** Both begin at the same time, for a person waits; where one can not, the other is not left behind. */
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
  { host, port, tokens, folder, metrics, pool, services }: Served,
): Promise<RunningServer> {
  const root = packageRoot();
  const built = join(root, "dashboard", "dist");
  const dashboard = existsSync(built) ? openStaticFolder(built) : undefined;
  if (!dashboard?.ok) session.log.warn("the dashboard is not built; only the API is served");
  return unwrap(
    await openServer({
      plane,
      options: {
        host,
        port,
        tokens,
        version: packageVersion(),
        past: plane.takePast(),
        metrics: () => metrics.text(),
        onAnswer: (answer) => metrics.answered(answer),
        audit: (entry) => writeAudit(session, folder, entry),
        onDefect: (thrown) => session.log.error({ err: thrown }, "defect while answering a request"),
        studies: openStudyFolder(join(root, "docs", "results"), {
          onUnreadable: (file, { message }) => session.log.warn({ file }, message),
        }),
        ...(pool ? { pool } : {}),
        ...(services ? { services } : {}),
        ...(dashboard?.ok ? { dashboard: dashboard.value } : {}),
      },
    }),
  );
}

function writeAudit(session: Session, folder: string | null, entry: AuditEntry): void {
  session.log.info(entry, "write");
  if (folder === null) return;
  try {
    appendFileSync(join(folder, "audit.jsonl"), `${JSON.stringify(entry)}\n`);
  } catch (cause) {
    session.log.error({ err: cause }, "the audit log could not be written");
  }
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

interface ReadTokens {
  readonly tokens: readonly Token[];
  /** Secrets of those who may send spans, and nothing else. */
  readonly senders: readonly string[];
}

const NO_TOKENS: ReadTokens = { tokens: [], senders: [] };
const ROLES: readonly string[] = ["viewer", "operator", "sender"];

/** `role name secret` in each line; '#' begins a comment. */
function readTokens(file: string): ReadTokens {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause);
    throw new CodedError(failure("plane.tokens", `the tokens in ${file} can not be read: ${words}`, { cause }));
  }
  const lines = text
    .split("\n")
    .map((line, index) => ({ words: line.trim().split(/\s+/), line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== "" && !line.startsWith("#"))
    .map(({ words: [role, name, secret, ...rest], number }) => {
      if (role === undefined || !ROLES.includes(role) || !name || !secret || rest.length > 0)
        throw usageError(
          `line ${number} of ${file} is no token`,
          "write 'viewer', 'operator' or 'sender', a name and a secret, with spaces between",
        );
      return { role, name, secret };
    });
  return {
    tokens: lines.flatMap(({ role, ...token }) =>
      role === "viewer" || role === "operator" ? [{ role, ...token }] : [],
    ),
    senders: lines.flatMap(({ role, secret }) => (role === "sender" ? [secret] : [])),
  };
}
