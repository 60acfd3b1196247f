/**
 * Requests to OpenWhisk's REST API and what its refusals mean.
 * Owns: time limits, repeats with growing pauses within a deadline, bounds on answers, failure codes.
 * Not here: what is asked (actuator.ts, records.ts).
 *
 * Everything that is sent may be sent twice: reading changes nothing, and limits are set by level.
 */
import type { Failure, Ms, Result } from "../../base/index.ts";
import { err, failure, milliseconds, ok } from "../../base/index.ts";
import { readBounded } from "./bounded-body.ts";
import type { OpenWhiskTarget } from "./options.ts";

export interface OpenWhiskRequest {
  readonly method: "GET" | "PUT";
  /** Below the namespace, escaped already: `actions/hello`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
}

/** Several requests under one deadline. */
export interface OpenWhiskCall {
  /** The JSON of a GET; undefined for a PUT, whose answer repeats the whole action with its code and is not read. */
  ask(request: OpenWhiskRequest): Promise<Result<unknown>>;
}

type PlatformFailure = Failure<
  | "functions.platform.unauthorized"
  | "functions.platform.not-found"
  | "functions.platform.conflict"
  | "functions.platform.busy"
  | "functions.platform.unavailable"
  | "functions.platform.timeout"
  | "functions.platform.refused"
  | "functions.platform.aborted"
  | "functions.platform.malformed"
  | "functions.platform.too-large"
>;

/** `after`: the platform asked for a pause of so long. */
type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly failure: PlatformFailure; readonly after: Ms };

const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 2_000;

export function beginCall(target: OpenWhiskTarget, signal: AbortSignal): OpenWhiskCall {
  const { clock, deadline } = target;
  const until = clock.monotonic() + deadline;
  return {
    async ask(request) {
      for (let pause = FIRST_PAUSE; ; pause = Math.min(LONGEST_PAUSE, 2 * pause)) {
        const left = milliseconds(until - clock.monotonic());
        if (left <= 0) return err(outOfTime(target));
        const answer = await once(target, request, { signal, left });
        if ("ok" in answer) return ok(answer.value);
        const wait = milliseconds(Math.max(pause, answer.after));
        if (!isPassing(answer.failure) || clock.monotonic() + wait >= until) return err(answer.failure);
        try {
          await clock.sleep(wait, signal);
        } catch {
          return err(givenUp());
        }
      }
    },
  };
}

/** What goes away by itself. A conflict does too, but whoever wrote in between has to be read first. */
const isPassing = ({ code }: PlatformFailure): boolean =>
  code === "functions.platform.busy" ||
  code === "functions.platform.unavailable" ||
  code === "functions.platform.timeout";

async function once(
  target: OpenWhiskTarget,
  { method, path, query = {}, body }: OpenWhiskRequest,
  { signal, left }: { readonly signal: AbortSignal; readonly left: Ms },
): Promise<Answer> {
  const { origin, authorization, namespace, requestTimeout, mostBodyBytes } = target;
  if (signal.aborted) return { failure: givenUp(), after: NOW };
  const url = new URL(`/api/v1/namespaces/${encodeURIComponent(namespace)}/${path}`, origin);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  const limit = AbortSignal.timeout(Math.ceil(Math.min(requestTimeout, left)));
  try {
    const response = await fetch(url, {
      method,
      headers: {
        authorization,
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      // The key must not follow to wherever somebody points.
      redirect: "manual",
      signal: AbortSignal.any([signal, limit]),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.ok && method === "PUT") {
      await response.body?.cancel();
      return { ok: true, value: undefined };
    }
    const text = await readBounded(response, mostBodyBytes);
    if (!response.ok) {
      const failed = refusal(response.status, { origin, says: text === undefined ? "" : errorIn(text) });
      return { failure: failed, after: retryAfter(response) };
    }
    if (text === undefined) return { failure: tooLarge(target), after: NOW };
    return parsed(text, origin);
  } catch (cause) {
    if (signal.aborted) return { failure: givenUp(), after: NOW };
    if (limit.aborted) return { failure: outOfTime(target), after: NOW };
    return { failure: unreachable(origin, cause), after: NOW };
  }
}

function parsed(text: string, origin: string): Answer {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { failure: malformed(origin, "its answer is not valid JSON"), after: NOW };
  }
}

const NOW = milliseconds(0);

/** In seconds; the form with a date is not worth reading, since a pause follows anyway. */
function retryAfter(response: Response): Ms {
  const asked = Number(response.headers.get("retry-after") ?? "");
  return milliseconds(Number.isFinite(asked) && asked > 0 ? asked * 1_000 : 0);
}

/** OpenWhisk's own words: `{"error": "…", "code": "…"}`, where the code is the number of the transaction. */
function errorIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === "string" ? error.slice(0, 200) : "";
  } catch {
    return "";
  }
}

function refusal(
  status: number,
  { origin, says }: { readonly origin: string; readonly says: string },
): PlatformFailure {
  const what = `OpenWhisk at ${origin} answers with status ${status}${says === "" ? "" : ` and '${says}'`}`;
  if (status === 401 || status === 403)
    return failure("functions.platform.unauthorized", `${what}; check the key and the namespace`);
  if (status === 404) return failure("functions.platform.not-found", `${what}; check the name`);
  if (status === 409)
    return failure("functions.platform.conflict", `${what}; read it again and decide anew`, { retry: true });
  if (status === 429)
    return failure("functions.platform.busy", `${what}; ask less often, or try again later`, { retry: true });
  if (status >= 500)
    return failure("functions.platform.unavailable", `${what}; try again when it is well again`, { retry: true });
  return failure("functions.platform.refused", `${what}; check the setting against the namespace's limits`);
}

export const malformed = (origin: string, what: string): PlatformFailure =>
  failure("functions.platform.malformed", `OpenWhisk at ${origin} cannot be understood: ${what}; check its version`);

const tooLarge = ({ origin, mostBodyBytes }: OpenWhiskTarget): PlatformFailure =>
  failure(
    "functions.platform.too-large",
    `OpenWhisk at ${origin} answers with more than ${mostBodyBytes} bytes; ask for fewer records, or raise 'mostBodyBytes'`,
  );

const outOfTime = ({ origin }: OpenWhiskTarget): PlatformFailure =>
  failure("functions.platform.timeout", `OpenWhisk at ${origin} did not answer in time; try again`, { retry: true });

const unreachable = (origin: string, cause: unknown): PlatformFailure =>
  failure("functions.platform.unavailable", `OpenWhisk at ${origin} cannot be reached; try again`, {
    retry: true,
    cause,
  });

const givenUp = (): PlatformFailure =>
  failure("functions.platform.aborted", "the call to OpenWhisk was given up before it ended", { retry: true });
