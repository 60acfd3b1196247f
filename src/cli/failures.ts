/**
 * How a failure leaves the program: one sentence on standard error, or one JSON object with `--json`; and an exit code.
 * Not here: the failures themselves; each is made where it arises.
 */

import { CommanderError } from "@commander-js/extra-typings";
import { CodedError, type Failure, failure, failureOf } from "../base/index.ts";
import type { ExitCode, Shell } from "./shell.ts";

/** A failure of this program's edge, with something to try next. */
export interface HintedFailure extends Failure {
  readonly hint?: string;
}

export function usageError(message: string, hint?: string): CodedError {
  return hinted(failure("usage.invalid", message), hint);
}

export function hinted(base: Failure, hint: string | undefined): CodedError {
  const full: HintedFailure = hint === undefined ? base : { ...base, hint };
  return new CodedError(full);
}

/** What was thrown, as a failure; a stranger is a bug and says so. */
export function toFailure(thrown: unknown): HintedFailure {
  const coded = failureOf(thrown);
  if (coded) return coded;
  if (thrown instanceof CommanderError) return fromCommander(thrown);
  const system = systemFailure(thrown);
  if (system) return system;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return {
    ...failure("internal.bug", `unexpected: ${text}`, { cause: thrown }),
    hint: "this is a defect of coxswain; please report it with the lines below",
  };
}

function fromCommander(thrown: CommanderError): HintedFailure {
  const [first = "", ...rest] = thrown.message.replace(/^error: /, "").split("\n");
  const suggestion = rest.join(" ").match(/\(Did you mean (.+)\?\)/)?.[1];
  const message = suggestion ? `${first}; did you mean '${suggestion}'?` : first;
  return { ...failure("usage.invalid", message), hint: "add --help to see what the command takes" };
}

/** Errors of the operating system that a user can do something about. */
function systemFailure(thrown: unknown): HintedFailure | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown) || typeof thrown.code !== "string") return undefined;
  const path = "path" in thrown && typeof thrown.path === "string" ? thrown.path : "a file";
  switch (thrown.code) {
    case "ENOENT":
      return failure("file.missing", `${path} does not exist; check the path`, { cause: thrown });
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return failure("file.denied", `${path} may not be accessed (${thrown.code}); check its owner and mode`, {
        cause: thrown,
      });
    case "ENOSPC":
    case "EDQUOT":
      return failure("file.disk-full", `the disk is full while writing ${path}; free some space and run it again`, {
        cause: thrown,
        retry: true,
      });
    case "EISDIR":
    case "ENOTDIR":
    case "EEXIST":
      return failure("file.wrong-kind", `${path} is not the kind of file expected (${thrown.code}); check the path`, {
        cause: thrown,
      });
    default:
      return undefined;
  }
}

/** Files and folders that were named and are not what the command takes. */
const NAMED = ["file.missing", "plane.tokens", "trace.model", "train.no-run", "evaluate.wrong-task"];
/** The command line, a setting, a name that nothing has, tokens that are missing or weak: whoever wrote it can mend it. */
const MISTAKES = /^(?:usage|config)\.|^nats\.(?:address|plain)$|\.unknown-|\.token-(?:required|weak)$/;

export function exitCodeOf({ code }: Failure): ExitCode {
  return MISTAKES.test(code) || NAMED.includes(code) ? 2 : 1;
}

export function reportFailure(shell: Shell, thrown: unknown, { json }: { readonly json: boolean }): ExitCode {
  const found = toFailure(thrown);
  const { code, message, retry, hint } = found;
  if (json) {
    shell.stderr.write(
      `${JSON.stringify(hint === undefined ? { code, message, retry } : { code, message, retry, hint })}\n`,
    );
  } else {
    shell.stderr.write(`coxswain: ${message}\n`);
    if (hint !== undefined) shell.stderr.write(`  ${hint}\n`);
    if (code === "internal.bug" && thrown instanceof Error && thrown.stack) shell.stderr.write(`${thrown.stack}\n`);
  }
  return exitCodeOf(found);
}
