/**
 * One line that says how far and how long still. It appears only on a terminal, only after two seconds, and is gone
 * when the work is done: standard error then reads as if it had never been there.
 */

import { isLive, type Shell } from "./shell.ts";

const SHOW_AFTER_MS = 2_000;
const REDRAW_EVERY_MS = 100;

export interface ProgressState {
  /** 0 to 1. */
  readonly fraction: number;
  /** What is being done right now, kept short. */
  readonly note?: string;
}

export interface Progress {
  update(state: ProgressState): void;
  /** Clears the line; later updates draw it again. */
  clear(): void;
}

export function createProgress(shell: Shell, label: string): Progress {
  if (!isLive(shell, shell.stderr)) return { update() {}, clear() {} };
  const started = shell.now();
  let drawnAt = Number.NEGATIVE_INFINITY;
  let isDrawn = false;
  return {
    update(state) {
      const now = shell.now();
      const elapsed = now - started;
      if (elapsed < SHOW_AFTER_MS || now - drawnAt < REDRAW_EVERY_MS) return;
      drawnAt = now;
      isDrawn = true;
      const line = progressLine({ label, ...state, elapsedMs: elapsed, columns: shell.stderr.columns ?? 80 });
      shell.stderr.write(`\r\u001b[K${line}`);
    },
    clear() {
      if (isDrawn) shell.stderr.write("\r\u001b[K");
      isDrawn = false;
      drawnAt = Number.NEGATIVE_INFINITY;
    },
  };
}

interface LineParts extends ProgressState {
  readonly label: string;
  readonly elapsedMs: number;
  readonly columns: number;
}

/** Never wider than the terminal: a wrapped line could not be cleared. */
export function progressLine({ label, fraction, note, elapsedMs, columns }: LineParts): string {
  const share = Math.min(Math.max(fraction, 0), 1);
  const percent = `${Math.floor(share * 100)}`.padStart(3);
  const left = share > 0.001 ? `${clockTime((elapsedMs * (1 - share)) / share)} left` : "--:-- left";
  const tail = `${percent} %  ${left}`;
  const text = note === undefined || note === "" ? tail : `${tail}  ${note}`;
  const room = columns - 1 - label.length - text.length - 3;
  if (room >= 10) {
    const width = Math.min(room, 40);
    const full = Math.round(width * share);
    return `${label} ${"█".repeat(full)}${"░".repeat(width - full)} ${text}`;
  }
  return `${label} ${text}`.slice(0, columns - 1);
}

/** 75 s → 01:15; from an hour on 1:02:03. */
export function clockTime(ms: number): string {
  const total = Math.max(0, Math.round(ms / 1000));
  const pad = (n: number) => `${n}`.padStart(2, "0");
  const hours = Math.floor(total / 3600);
  const rest = `${pad(Math.floor((total % 3600) / 60))}:${pad(total % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}
