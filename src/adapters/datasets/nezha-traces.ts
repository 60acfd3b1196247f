/**
 * Recorded spans of two applications with labelled faults: Online Boutique ("hipster") and Train-Ticket.
 * Owns: reading the data set nezha-traces into windows of spans. Not here: where it lies (locate.ts), what is made of it.
 *
 * The set has no span kinds. A span with a child in another pod has called it, so it is that child's client; without this
 * the way between two pods could not be told from the caller's own work. A pod stands for its service: every service has
 * one, and its name changes from day to day. Train-Ticket's gateway calls every request by one name, so a root takes that of
 * the first operation of another service that it leads to.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { err, failure, type Ms, ok, type Result } from "../../base/index.ts";
import type { Span, SpanKind } from "../../observe/telemetry/index.ts";

export type RecordedApplication = "hipster" | "train-ticket";

export interface RecordedFault {
  readonly fault: number;
  readonly application: RecordedApplication;
  readonly service: string;
  /** cpu_contention, cpu_consumed, network_delay, return, exception. */
  readonly type: string;
}

/** One minute. */
export interface RecordedWindow {
  readonly window: number;
  readonly application: RecordedApplication;
  /** When it began, UTC. */
  readonly at: Ms;
  /** Null: a minute of normal times. */
  readonly fault: number | null;
  readonly spans: readonly Span[];
  /** By service, the part of its CPU limit that it used in this minute; absent where the recording has no value. */
  readonly cpu: ReadonlyMap<string, number>;
}

export interface RecordedTraces {
  readonly faults: readonly RecordedFault[];
  /** Those with spans, in the order of the file. */
  readonly windows: readonly RecordedWindow[];
}

export interface RecordedOptions {
  readonly application: RecordedApplication;
  /** Of each window, the first so many traces; all unless said. */
  readonly mostTraces?: number;
}

/** One application of the set; `folder` is what `locateDataset("nezha-traces")` answers. */
export async function readNezhaTraces(
  folder: string,
  { application, mostTraces = Number.POSITIVE_INFINITY }: RecordedOptions,
): Promise<Result<RecordedTraces>> {
  try {
    const [faults, windows, pods, ops] = await Promise.all(
      ["faults.csv", "windows.csv", "pods.csv", "ops.csv"].map((file) => table(join(folder, file))),
    );
    const serviceOf = new Map((pods ?? []).map((row) => [row.id ?? "", row.service ?? ""]));
    const opOf = new Map((ops ?? []).map((row) => [row.id ?? "", row.op ?? ""]));
    const own = (windows ?? []).filter((row) => row.app === application && row.absent === "0");
    const rowOf = new Map(own.map((row) => [Number(row.window), row]));
    const cpuAt = await readCpu(join(folder, "metrics.csv.gz"), { application, windows: own });
    const path = join(folder, `${application}.spans.csv.gz`);
    const spans = await readWindows(path, { serviceOf, opOf, mostTraces });
    return ok({
      faults: (faults ?? [])
        .filter(({ app }) => app === application)
        .map(({ fault, service, type }) => ({
          fault: Number(fault),
          application,
          service: service ?? "",
          type: type ?? "",
        })),
      windows: [...spans].flatMap(([window, found]) => {
        const row = rowOf.get(window);
        if (row === undefined) return [];
        const fault = row.kind === "fault" ? Number(row.fault) : null;
        const cpu = cpuAt.get(minuteOf(row)) ?? new Map<string, number>();
        const at = Date.parse(`${row.day}T${row.hh_mm?.replace("_", ":")}:00Z`) as Ms;
        return [{ window, application, at, fault, spans: found, cpu }];
      }),
    });
  } catch (cause) {
    const what = cause instanceof Error ? cause.message : String(cause);
    const message = `${folder} cannot be read as the data set nezha-traces (${what}); fetch it again`;
    return err(failure("dataset.unreadable", message, { cause }));
  }
}

type Row = Readonly<Record<string, string | undefined>>;

async function table(path: string): Promise<Row[]> {
  const [heading = "", ...lines] = (await readFile(path, "utf8")).trimEnd().split("\n");
  const columns = heading.trimEnd().split(",");
  return lines.map((line) => {
    const fields = line.trimEnd().split(",");
    return Object.fromEntries(columns.map((column, k) => [column, fields[k]]));
  });
}

const METRICS_HEADING = "app,day,unix_s,pod,cpu_m,cpu_pct,";
/** On the first day some rows have times that are so many seconds ahead; their own column for the day says otherwise. */
const AHEAD_S = 200_000_000;

const minuteOf = ({ day, hh_mm }: Row): string => `${day} ${hh_mm}`;

/** By minute and service; only the minutes of these windows are kept. */
async function readCpu(
  path: string,
  { application, windows }: { readonly application: RecordedApplication; readonly windows: readonly Row[] },
): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> {
  const text = (await promisify(gunzip)(await readFile(path))).toString("utf8");
  if (!text.startsWith(METRICS_HEADING)) throw new Error(`${path} does not begin with '${METRICS_HEADING}'`);
  const found = new Map(windows.map((row) => [minuteOf(row), new Map<string, number>()]));
  for (const line of text.split("\n").slice(1)) {
    const [app, day, unix, pod = "", , percent = ""] = line.split(",");
    if (app !== application || percent === "") continue;
    const at = new Date(1_000 * Number(unix)).toISOString();
    const isAhead = at.slice(0, 10) > (day ?? "");
    const time = isAhead ? new Date(1_000 * (Number(unix) - AHEAD_S)).toISOString() : at;
    const minute = found.get(`${day} ${time.slice(11, 13)}_${time.slice(14, 16)}`);
    // A pod's name is its service's with two more parts.
    minute?.set(pod.split("-").slice(0, -2).join("-"), Number(percent) / 100);
  }
  return found;
}

interface Names {
  readonly serviceOf: ReadonlyMap<string, string>;
  readonly opOf: ReadonlyMap<string, string>;
  readonly mostTraces: number;
}

const HEADING = "window,trace,span,parent,pod,op,rel_start_us,dur_us";
/** Traces of a window are told apart by their number; windows begin a minute apart. */
const TRACES_PER_WINDOW = 1_000_000;
const MINUTE_US = 60_000_000;

async function readWindows(path: string, names: Names): Promise<ReadonlyMap<number, Span[]>> {
  const windows = new Map<number, Span[]>();
  const text = (await promisify(gunzip)(await readFile(path))).toString("utf8");
  let end = text.indexOf("\n");
  const heading = text.slice(0, Math.max(0, end)).trimEnd();
  if (heading !== HEADING) throw new Error(`${path} begins with '${heading.slice(0, 80)}' and not with '${HEADING}'`);
  while (end >= 0 && end + 1 < text.length) {
    const next = text.indexOf("\n", end + 1);
    const line = text.slice(end + 1, next < 0 ? text.length : next).trimEnd();
    end = next;
    const [window, trace, span, parent, pod, op, start, duration] = line.split(",") as [string, ...string[]];
    if (Number(trace) >= names.mostTraces) continue;
    let spans = windows.get(Number(window));
    if (spans === undefined) {
      spans = [];
      windows.set(Number(window), spans);
    }
    const service = names.serviceOf.get(pod ?? "") ?? `pod ${pod}`;
    const startUs = Number(window) * MINUTE_US + Number(start);
    spans.push({
      traceId: (Number(window) * TRACES_PER_WINDOW + Number(trace) + 1).toString(16).padStart(32, "0"),
      spanId: (Number(span) + 1).toString(16).padStart(16, "0"),
      ...(parent === "-1" ? {} : { parentId: (Number(parent) + 1).toString(16).padStart(16, "0") }),
      service,
      instance: service,
      operation: names.opOf.get(op ?? "") ?? `op ${op}`,
      kind: "internal",
      startUs,
      endUs: startUs + Number(duration),
      status: "unset",
    });
  }
  for (const [window, spans] of windows) windows.set(window, withKinds(spans));
  return windows;
}

/** Clients by their children in other services, and servers. */
function withKinds(spans: readonly Span[]): Span[] {
  const places = new Map<string, number>();
  for (const [place, { traceId, spanId }] of spans.entries()) places.set(`${traceId}${spanId}`, place);
  const kinds: SpanKind[] = spans.map(({ parentId }) => (parentId === undefined ? "server" : "internal"));
  spans.forEach(({ traceId, parentId, instance }, place) => {
    const parent = parentId === undefined ? undefined : places.get(`${traceId}${parentId}`);
    if (parent === undefined || spans[parent]?.instance === instance) return;
    kinds[place] = "server";
    if (kinds[parent] === "internal") kinds[parent] = "client";
  });
  const entries = new Map<string, Span>();
  for (const [place, span] of spans.entries()) {
    const before = entries.get(span.traceId);
    if (
      kinds[place] === "server" &&
      span.parentId !== undefined &&
      (before === undefined || span.startUs < before.startUs)
    )
      entries.set(span.traceId, span);
  }
  return spans.map((span, place) => {
    const entry = span.parentId === undefined ? entries.get(span.traceId) : undefined;
    const operation = entry === undefined ? span.operation : `${span.operation} ${entry.service} ${entry.operation}`;
    return { ...span, operation, kind: kinds[place] ?? "internal" };
  });
}
