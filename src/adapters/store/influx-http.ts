/**
 * Requests to InfluxDB and what its refusals mean.
 * The writer is our own: one POST of lines is the whole protocol, the same in every version.
 */

import type { Failure } from "../../base/index.ts";
import { CodedError, failure } from "../../base/index.ts";

export interface InfluxTarget {
  /** `http://127.0.0.1:8086` */
  readonly url: string;
  /** Sent as it is: `Token …` or `Basic …`. */
  readonly authorization?: string;
  readonly timeoutMs: number;
}

export interface InfluxRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly type?: string;
  readonly accept?: string;
}

/** The body of a successful answer; everything else is thrown with a code. */
export async function askInflux(target: InfluxTarget, request: InfluxRequest): Promise<string> {
  const url = new URL(request.path, target.url);
  for (const [name, value] of Object.entries(request.query ?? {})) url.searchParams.set(name, value);
  const headers: Record<string, string> = {};
  if (target.authorization !== undefined) headers.authorization = target.authorization;
  if (request.type !== undefined) headers["content-type"] = request.type;
  if (request.accept !== undefined) headers.accept = request.accept;
  let status: number;
  let text: string;
  try {
    const response = await fetch(url, {
      method: request.method,
      headers,
      signal: AbortSignal.timeout(target.timeoutMs),
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    status = response.status;
    text = await response.text();
    if (response.ok) return text;
  } catch (cause) {
    throw new CodedError(
      failure(
        "store.unavailable",
        `InfluxDB at ${target.url} does not answer; the call can be repeated when it is back`,
        { retry: true, cause },
      ),
    );
  }
  throw new CodedError(refusal(status, { text: reasonIn(text), url: target.url }));
}

/** InfluxDB's own words: `error` in 1.x, `message` in 2.x. */
export function reasonIn(text: string): string {
  try {
    const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown };
    return String(error ?? message ?? text).slice(0, 300);
  } catch {
    return text.slice(0, 300);
  }
}

export function refusal(status: number, { text, url }: { text: string; url: string }): Failure {
  const says = `InfluxDB at ${url} says '${text}' (status ${status})`;
  if (status === 401 || status === 403) {
    return failure("store.unauthorized", `${says}; check the user, password or token of the trajectory store`);
  }
  if (status === 404 || /database not found|bucket .* not found/.test(text)) {
    return failure("store.no-database", `${says}; create the database or bucket, or correct its name`);
  }
  if (status === 413) return failure("store.too-large", `${says}; send smaller batches`);
  if (/no space left on device/.test(text)) {
    return failure("store.disk-full", `${says}; free some space on the server and repeat the call`);
  }
  if (/max-values-per-tag|max-series-per-database|beyond retention policy|outside retention/.test(text)) {
    return failure(
      "store.limit",
      `${says}; an episode is a tag value, so raise that limit or the retention of the server, or forget old episodes`,
    );
  }
  if (status === 429 || status === 503) return failure("store.busy", `${says}; try again shortly`, { retry: true });
  if (status >= 500)
    return failure("store.unavailable", `${says}; the call can be repeated when it is well again`, { retry: true });
  return failure(
    "store.refused",
    `${says}; the store's request did not fit this server, check that its version is supported`,
  );
}
