/**
 * Every error answer is a problem document (RFC 9457).
 * Owns: which status a failure's code has, and the answer itself. Not here: the codes' meaning (docs/guide/failures.md).
 */
import type { Failure } from "../base/index.ts";
import type { Problem } from "../contract/index.ts";

export type ProblemStatus =
  | 400
  | 401
  | 403
  | 404
  | 405
  | 409
  | 412
  | 413
  | 415
  | 422
  | 428
  | 429
  | 500
  | 503
  | 504
  | 507;

const TITLES: { readonly [status in ProblemStatus]: string } = {
  400: "The request is not understood",
  401: "A token is needed",
  403: "Not allowed",
  404: "Not found",
  405: "Not possible here",
  409: "Not possible now",
  412: "Changed meanwhile",
  413: "Too large",
  415: "Send JSON",
  422: "The request contradicts an earlier one",
  428: "Say what you saw",
  429: "Too many requests",
  500: "A defect of the server",
  503: "Not available now",
  504: "No answer in time",
  507: "In force, but not saved",
};

const STATUSES: { readonly [code: string]: ProblemStatus } = {
  "server.bad-request": 400,
  "server.if-match": 400,
  "plane.cursor": 400,
  "server.token-missing": 401,
  "server.role": 403,
  "server.host": 403,
  "server.origin": 403,
  "server.not-found": 404,
  "plane.unknown-agent": 404,
  "plane.unknown-workload": 404,
  "plane.no-fleet": 404,
  "services.none": 404,
  "services.unknown-trace": 404,
  "services.unknown-anomaly": 404,
  "server.method": 405,
  "plane.revision": 412,
  "server.body-too-large": 413,
  "server.not-json": 415,
  "server.idempotency-key": 422,
  "server.if-match-missing": 428,
  "server.too-many-writes": 429,
  "server.defect": 500,
  "server.too-many-streams": 503,
  "server.not-ready": 503,
  "server.study-unreadable": 503,
  "plane.pool-unreadable": 503,
  "server.timeout": 504,
  "plane.not-saved": 507,
  "services.not-saved": 507,
};

/** What was asked for is done, and only its keeping failed. */
export const isInForce = (status: number): boolean => status === 507;

/** A failure of the plane that has no status of its own is a conflict, or passes by itself. */
export const statusOf = ({ code, retry }: Failure): ProblemStatus => STATUSES[code] ?? (retry ? 503 : 409);

export function problemOf(failure: Failure): Problem {
  const status = statusOf(failure);
  return { type: "about:blank", title: TITLES[status], status, detail: failure.message, code: failure.code };
}

export function problemResponse(failure: Failure, headers: Readonly<Record<string, string>> = {}): Response {
  const problem = problemOf(failure);
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...headers },
  });
}
