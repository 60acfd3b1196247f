/**
 * A log line as people read it: time, severity, text.
 * Owns: turning a JSON line into one for a terminal. Made from the JSON, so that levels and redaction are decided once
 * (log.ts). Not here: the events' sentences (event-texts.ts).
 */
import { createColors } from "picocolors";

interface JsonLine {
  readonly time: string;
  readonly level: string;
  readonly app?: string;
  readonly msg?: string;
  /** An event's own, finer than the level. */
  readonly severity?: string;
  /** An event as a sentence: what the other fields say apart is in it. */
  readonly text?: string;
  readonly err?: { readonly message?: string; readonly stack?: string };
  readonly [field: string]: unknown;
}

const WORDS: Readonly<Record<string, string>> = { warn: "warning" };
const WIDEST = "warning".length;

export function readableLine({ hasColour }: { readonly hasColour: boolean }): (json: string) => string {
  const colours = createColors(hasColour);
  const painters: Readonly<Record<string, (text: string) => string>> = {
    notice: colours.cyan,
    warning: colours.yellow,
    error: colours.red,
    fatal: colours.red,
  };
  return (json) => {
    const { time, level, app: _app, msg = "", severity, text, err, ...fields } = JSON.parse(json) as JsonLine;
    const word = severity ?? WORDS[level] ?? level;
    const paint = painters[word] ?? colours.dim;
    const said = text ?? [msg, ...(err?.message ? [`: ${err.message}`] : []), colours.dim(fieldsOf(fields))].join("");
    const head = `${colours.dim(clockOf(time))}  ${paint(word.padEnd(WIDEST))}  ${said}\n`;
    return err?.stack === undefined ? head : `${head}${err.stack.replaceAll(/^/gm, "    ")}\n`;
  };
}

/** Of the day, as on the reader's own clock. */
function clockOf(time: string): string {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

function fieldsOf(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `  ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("");
}
