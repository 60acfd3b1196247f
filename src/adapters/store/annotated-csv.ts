/**
 * Flux answers: annotated CSV (RFC 4180 quoting, tables separated by empty lines, `#datatype` and `#default` rows on
 * top of each). Only what the store asks for: numbers, integers, texts, times as texts.
 */

export interface FluxRow {
  /** The name given to `yield`. */
  readonly result: string;
  readonly values: Readonly<Record<string, string | number | null>>;
}

export function parseAnnotatedCsv(text: string): FluxRow[] {
  const rows: FluxRow[] = [];
  let types: readonly string[] = [];
  let defaults: readonly string[] = [];
  let header: readonly string[] | undefined;
  for (const cells of cellsOf(text)) {
    const [first = ""] = cells;
    if (cells.length === 1 && first === "") {
      // An empty line ends a table; the next one brings its own annotations.
      header = undefined;
    } else if (first.startsWith("#")) {
      if (first === "#datatype") types = cells;
      if (first === "#default") defaults = cells;
      header = undefined;
    } else if (header === undefined) {
      header = cells;
    } else {
      rows.push(rowOf(header, { cells, types, defaults }));
    }
  }
  return rows;
}

function rowOf(
  header: readonly string[],
  { cells, types, defaults }: { cells: readonly string[]; types: readonly string[]; defaults: readonly string[] },
): FluxRow {
  const values: Record<string, string | number | null> = {};
  header.forEach((name, i) => {
    const text = cells[i] === undefined || cells[i] === "" ? (defaults[i] ?? "") : cells[i];
    const isNumeric = types[i] === "double" || types[i] === "long" || types[i] === "unsignedLong";
    if (name !== "") values[name] = text === "" ? null : isNumeric ? Number(text) : text;
  });
  return { result: String(values.result ?? ""), values };
}

/** Lines of cells; a quoted cell may hold commas, quotes (doubled) and line ends. */
function* cellsOf(text: string): Iterable<string[]> {
  let cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const sign = text[i];
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[i + 1] === '"') cell += text[++i];
      else isQuoted = false;
    } else if (sign === '"') {
      isQuoted = true;
    } else if (sign === ",") {
      cells.push(cell);
      cell = "";
    } else if (sign === "\n") {
      yield [...cells, cell];
      cells = [];
      cell = "";
    } else if (sign !== "\r") {
      cell += sign;
    }
  }
  if (cell !== "" || cells.length > 0) yield [...cells, cell];
}
