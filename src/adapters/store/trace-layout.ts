/**
 * The tables of traces in the embedded store, and two views to ask them with.
 * Owns: the SQL of the layout. Not here: writing rows (trace-rows.ts), asking (trace-queries.ts).
 *
 * Names are numbers of the file's own table of names. A span's attributes lie in its trace's BLOB, from one place to
 * another, because every BLOB is a call into the database and a trace has twenty spans.
 */
import type { FileLayout } from "./duckdb-file.ts";

/** Of `spans.flags`, besides telemetry's SpanFlag. */
export const ON_PATH = 128;

export const TRACE_LAYOUT: FileLayout = {
  what: "trace store",
  schema: "trace-schema",
  version: 1,
  tables: `
  CREATE TABLE names (id INTEGER NOT NULL, text VARCHAR NOT NULL);
  CREATE TABLE traces (key INTEGER NOT NULL, id VARCHAR NOT NULL, start_us DOUBLE NOT NULL, duration_us DOUBLE NOT NULL,
    spans INTEGER NOT NULL, errors INTEGER NOT NULL, service INTEGER NOT NULL, operation INTEGER NOT NULL,
    sealed_by UTINYINT NOT NULL, attributes BLOB);
  CREATE TABLE spans (trace INTEGER NOT NULL, place INTEGER NOT NULL, parent INTEGER NOT NULL, id UBIGINT NOT NULL,
    service INTEGER NOT NULL, instance INTEGER NOT NULL, operation INTEGER NOT NULL, kind UTINYINT NOT NULL,
    status UTINYINT NOT NULL, flags UTINYINT NOT NULL, start_us DOUBLE NOT NULL, duration_us DOUBLE NOT NULL,
    critical_us DOUBLE NOT NULL, skew_us DOUBLE NOT NULL, attributes_from INTEGER NOT NULL,
    attributes_to INTEGER NOT NULL);
  CREATE TABLE links (trace INTEGER NOT NULL, place INTEGER NOT NULL, linked_trace VARCHAR NOT NULL,
    linked_span VARCHAR NOT NULL);

  -- Definition 2.1: who calls whom. A call is a span in another instance than its parent's.
  CREATE VIEW calls AS
    SELECT callee.trace, caller.service AS caller_service, caller.instance AS caller_instance,
           callee.service AS callee_service, callee.instance AS callee_instance, callee.start_us, callee.duration_us,
           callee.status = 2 AS is_error, callee.flags >= ${ON_PATH} AS is_critical
    FROM spans callee JOIN spans caller ON caller.trace = callee.trace AND caller.place = callee.parent
    WHERE callee.instance <> caller.instance;

  -- Definition 2.2: the vertices of a trace's execution history. Each request received, sent, and computed on.
  CREATE VIEW execution_history AS
    SELECT trace, place, 'recv_req' AS kind, NULL AS callee, start_us AS from_us, start_us AS to_us FROM spans
    UNION ALL
    SELECT trace, parent, 'send_req', place, start_us, start_us FROM spans WHERE parent >= 0
    UNION ALL
    SELECT trace, place, 'compute', NULL, start_us, start_us + duration_us FROM spans;`,
};
