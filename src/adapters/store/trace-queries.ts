/**
 * What the trace store is asked, in SQL.
 * Owns: one trace's execution history, lists of traces, the graph of calls. Not here: the layout (trace-layout.ts).
 */
import { DuckDBBlobValue, type DuckDBConnection, type DuckDBValue, listValue } from "@duckdb/node-api";
import {
  type CallEdge,
  decodeAttributes,
  type GraphQuery,
  SEAL_REASONS,
  SPAN_KINDS,
  SPAN_STATUSES,
  SpanFlag,
  type SpanLink,
  type StoredSpan,
  type StoredTrace,
  type TraceQuery,
  type TraceSummary,
} from "../../observe/telemetry/index.ts";
import { ON_PATH } from "./trace-layout.ts";

const SUMMARY = `t.id, s.text, o.text, t.start_us, t.duration_us, t.spans, t.errors, t.sealed_by`;
const SUMMARY_JOIN = `JOIN names s ON s.id = t.service JOIN names o ON o.id = t.operation`;

export async function storedTrace(reader: DuckDBConnection, traceId: string): Promise<StoredTrace | null> {
  const found = await reader.runAndReadAll(
    `SELECT ${SUMMARY}, t.key, t.attributes FROM traces t ${SUMMARY_JOIN} WHERE t.id = $1 ORDER BY t.spans DESC, t.key DESC LIMIT 1`,
    [traceId],
  );
  const row = found.getRows()[0];
  if (row === undefined) return null;
  const [key, blob] = [Number(row[8]), row[9]];
  const bytes = blob instanceof DuckDBBlobValue ? blob.bytes : new Uint8Array(0);
  const links = await linksOf(reader, key);
  const spans = await reader.runAndReadAll(
    `SELECT x.place, x.parent, printf('%016x', x.id), s.text, i.text, o.text, x.kind, x.status, x.flags, x.start_us,
            x.duration_us, x.critical_us, x.skew_us, x.attributes_from, x.attributes_to
     FROM spans x JOIN names s ON s.id = x.service JOIN names i ON i.id = x.instance JOIN names o ON o.id = x.operation
     WHERE x.trace = ${key} ORDER BY x.place`,
  );
  const rows = spans.getRows();
  const ids = rows.map((span) => String(span[2]));
  return { ...summaryIn(row), spans: rows.map((span) => spanIn(span, { traceId, ids, bytes, links })) };
}

/** Asked in portions: a statement with a million values is no statement. */
const IDS_AT_ONCE = 10_000;

export async function storedIds(reader: DuckDBConnection, traceIds: readonly string[]): Promise<ReadonlySet<string>> {
  const stored = new Set<string>();
  for (let from = 0; from < traceIds.length; from += IDS_AT_ONCE) {
    const portion = traceIds.slice(from, from + IDS_AT_ONCE);
    const found = await reader.runAndReadAll("SELECT DISTINCT id FROM traces WHERE id IN (SELECT unnest($1))", [
      listValue(portion),
    ]);
    for (const [id] of found.getRows()) stored.add(String(id));
  }
  return stored;
}

interface SpanContext {
  readonly traceId: string;
  readonly ids: readonly string[];
  readonly bytes: Uint8Array;
  readonly links: ReadonlyMap<number, readonly SpanLink[]>;
}

function spanIn(row: readonly DuckDBValue[], { traceId, ids, bytes, links }: SpanContext): StoredSpan {
  const number = (column: number): number => Number(row[column]);
  const [place, parent, flags] = [number(0), number(1), number(8)];
  const [from, to] = [number(13), number(14)];
  const parentId = ids[parent];
  const linked = links.get(place);
  return {
    traceId,
    spanId: ids[place] ?? "",
    ...(parentId === undefined ? {} : { parentId }),
    service: String(row[3]),
    instance: String(row[4]),
    operation: String(row[5]),
    kind: SPAN_KINDS[number(6)] ?? "internal",
    startUs: number(9),
    endUs: number(9) + number(10),
    status: SPAN_STATUSES[number(7)] ?? "unset",
    ...(linked === undefined ? {} : { links: linked }),
    ...(to > from ? { attributes: decodeAttributes(bytes, from, to) } : {}),
    parent,
    criticalUs: flags >= ON_PATH ? number(11) : null,
    skewUs: number(12),
    isOrphan: (flags & SpanFlag.ORPHAN) !== 0,
  };
}

async function linksOf(reader: DuckDBConnection, key: number): Promise<ReadonlyMap<number, readonly SpanLink[]>> {
  const found = await reader.runAndReadAll(`SELECT place, linked_trace, linked_span FROM links WHERE trace = ${key}`);
  const links = new Map<number, SpanLink[]>();
  for (const [place, traceId, spanId] of found.getRows()) {
    const list = links.get(Number(place)) ?? [];
    list.push({ traceId: String(traceId), spanId: String(spanId) });
    links.set(Number(place), list);
  }
  return links;
}

function summaryIn(row: readonly DuckDBValue[]): TraceSummary {
  return {
    traceId: String(row[0]),
    service: String(row[1]),
    operation: String(row[2]),
    startUs: Number(row[3]),
    durationUs: Number(row[4]),
    spanCount: Number(row[5]),
    errors: Number(row[6]),
    sealedBy: SEAL_REASONS[Number(row[7])] ?? "flush",
  };
}

const MOST_TRACES = 1_000;

export async function findTraces(reader: DuckDBConnection, query: TraceQuery): Promise<TraceSummary[]> {
  const where = new Conditions();
  if (query.service !== undefined)
    where.add(
      (p) => `t.key IN (SELECT x.trace FROM spans x JOIN names n ON n.id = x.service WHERE n.text = ${p})`,
      query.service,
    );
  if (query.operation !== undefined) where.add((p) => `o.text = ${p}`, query.operation);
  if (query.fromUs !== undefined) where.add((p) => `t.start_us >= ${p}`, query.fromUs);
  if (query.toUs !== undefined) where.add((p) => `t.start_us < ${p}`, query.toUs);
  if (query.minDurationUs !== undefined) where.add((p) => `t.duration_us >= ${p}`, query.minDurationUs);
  const order = query.order === "slowest" ? "t.duration_us DESC, t.key DESC" : "t.start_us DESC, t.key DESC";
  const limit = Math.min(MOST_TRACES, Math.max(1, Math.floor(query.limit ?? 20)));
  const sql = `SELECT ${SUMMARY} FROM traces t ${SUMMARY_JOIN} ${where.sql} ORDER BY ${order} LIMIT ${limit}`;
  return (await reader.runAndReadAll(sql, where.values)).getRows().map(summaryIn);
}

export async function callGraph(
  reader: DuckDBConnection,
  { fromUs, toUs, vertices = "services" }: GraphQuery,
): Promise<CallEdge[]> {
  const where = new Conditions();
  if (fromUs !== undefined) where.add((p) => `c.start_us >= ${p}`, fromUs);
  if (toUs !== undefined) where.add((p) => `c.start_us < ${p}`, toUs);
  const column = vertices === "services" ? "service" : "instance";
  const found = await reader.runAndReadAll(
    `SELECT a.text, b.text, g.calls, g.errors, g.mean, g.p99, g.critical FROM (
       SELECT c.caller_${column} AS caller, c.callee_${column} AS callee, count(*) AS calls,
              count(*) FILTER (c.is_error) AS errors, avg(c.duration_us) AS mean,
              quantile_cont(c.duration_us, 0.99) AS p99, count(*) FILTER (c.is_critical) AS critical
       FROM calls c ${where.sql} GROUP BY 1, 2) g
     JOIN names a ON a.id = g.caller JOIN names b ON b.id = g.callee ORDER BY g.calls DESC, a.text, b.text`,
    where.values,
  );
  return found.getRows().map((row) => ({
    caller: String(row[0]),
    callee: String(row[1]),
    calls: Number(row[2]),
    errors: Number(row[3]),
    meanUs: Number(row[4]),
    p99Us: Number(row[5]),
    criticalCalls: Number(row[6]),
  }));
}

/** Conditions with their values as parameters, numbered in the order they are added. */
class Conditions {
  readonly values: (string | number)[] = [];
  readonly #parts: string[] = [];

  add(text: (parameter: string) => string, value: string | number): void {
    this.values.push(value);
    this.#parts.push(text(`$${this.values.length}`));
  }

  get sql(): string {
    return this.#parts.length === 0 ? "" : `WHERE ${this.#parts.join(" AND ")}`;
  }
}
