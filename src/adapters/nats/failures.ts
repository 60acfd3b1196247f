/** What NATS throws, as coded failures. Owns: the codes `nats.*`. Not here: what is asked of it. */
import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import { type Failure, failure, failureOf } from "../../base/index.ts";

/** `what` is the beginning of a sentence: "the fleet's membership". */
export function natsFailure(thrown: unknown, what: string): Failure {
  const known = failureOf(thrown);
  if (known !== undefined) return known;
  const cause = thrown;
  if (isNobodyThere(thrown))
    return failure("nats.no-responders", `${what}: nobody on this NATS server answers; start whoever should`, {
      retry: true,
    });
  if (has(thrown, errors.TimeoutError))
    return failure("nats.timeout", `${what}: no answer came in time; it can be asked again`, { retry: true });
  if (has(thrown, errors.PermissionViolationError))
    return failure("nats.forbidden", `${what}: the NATS server does not let this user do that; see its permissions`);
  if (has(thrown, errors.AuthorizationError) || has(thrown, errors.UserAuthenticationExpiredError))
    return failure("nats.refused", `${what}: the NATS server refuses the credentials; see the configuration of both`);
  if (has(thrown, errors.ClosedConnectionError) || has(thrown, errors.DrainingConnectionError))
    return failure("nats.closed", `${what}: the connection to NATS is closed; connect anew`);
  if (thrown instanceof JetStreamApiError && thrown.code === JetStreamApiCodes.JetStreamNotEnabledForAccount)
    return noJetStream(what);
  if (has(thrown, JetStreamApiError))
    return failure("nats.jetstream", `${what}: JetStream refuses (${wordsOf(thrown)}); see the server's log`, {
      cause,
    });
  if (wordsOf(thrown).includes("max_payload"))
    return failure("nats.too-large", `${what}: the message is larger than the NATS server takes; send less`);
  return failure(
    "nats.unreachable",
    `${what}: NATS cannot be reached (${wordsOf(thrown)}); start it or correct the address`,
    {
      retry: true,
      cause,
    },
  );
}

/** As `natsFailure`, for what JetStream is asked: where nobody answers that, it is not there, or not yet. */
export function jetStreamFailure(thrown: unknown, what: string): Failure {
  return isNobodyThere(thrown) ? noJetStream(what) : natsFailure(thrown, what);
}

const noJetStream = (what: string): Failure =>
  failure(
    "nats.no-jetstream",
    `${what}: the NATS server has no JetStream, or not yet; start it with -js and -sd <folder>`,
    {
      retry: true,
    },
  );

const isNobodyThere = (thrown: unknown): boolean =>
  has(thrown, errors.NoRespondersError) || (thrown instanceof errors.RequestError && thrown.isNoResponders());

/** The client wraps errors in errors. */
function has(thrown: unknown, kind: abstract new (...args: never[]) => Error): boolean {
  let error = thrown;
  for (let depth = 0; error instanceof Error && depth < 5; depth++) {
    if (error.constructor === kind) return true;
    error = error.cause;
  }
  return false;
}

const wordsOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
