/**
 * The record of every attempt to change something, refused or not.
 * Owns: its shape. Not here: where it is written (the sink is given to the app), request bodies and tokens, which never
 * appear in it.
 */
import type { Command, ServicesCommand } from "../contract/index.ts";

export type AuditedCommand = Command | ServicesCommand;

export interface AuditEntry {
  /** The wall's time. */
  readonly at: number;
  /** The token's name, `loopback`, or `nobody` where no valid token came. */
  readonly who: string;
  readonly method: string;
  /** Cut after 200 characters. */
  readonly path: string;
  /** What was asked for; null when the request did not get that far. */
  readonly command: AuditedCommand | null;
  /** `unsaved`: in force until the next restart, or the next save that succeeds. */
  readonly outcome: "done" | "refused" | "unsaved";
  readonly status: number;
  /** Why it was refused or not saved; null when it was done. */
  readonly code: string | null;
}

export type AuditSink = (entry: AuditEntry) => void;
