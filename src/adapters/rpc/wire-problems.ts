/** Failures as messages and back, and plain JSON for settings, options and facts. */
import { create, type JsonObject } from "@bufbuild/protobuf";
import { CodedError, type Failure, failure, failureOf } from "../../base/index.ts";
import {
  type Problem,
  ProblemSchema,
  type ServerMessage,
  ServerMessageSchema,
} from "./generated/coxswain/env/v1/env_pb.ts";

/** The call that a problem answers. */
export interface CallKey {
  readonly episode: number;
  readonly step?: number | undefined;
}

export function problemMessage({ code, message, retry }: Failure, { episode, step }: CallKey): ServerMessage {
  const value = create(ProblemSchema, {
    code,
    sentence: message,
    retry,
    episode,
    ...(step === undefined ? {} : { step }),
  });
  return create(ServerMessageSchema, { answer: { case: "problem", value } });
}

export function problemFailure({ code, sentence, retry }: Problem): Failure {
  return failure(code === "" ? "env.protocol" : code, sentence, { retry });
}

/** What may be said about anything thrown: the insides of a defect stay on the host, in its log. */
export function publicFailure(thrown: unknown): Failure {
  return (
    failureOf(thrown) ??
    failure("env.failed", "the environment failed in an unexpected way; the log of its host says how")
  );
}

/** Strict, for what somebody asks for: a number that JSON does not have must not arrive as null. */
export function jsonOf(value: Readonly<Record<string, unknown>>, what: string): JsonObject {
  return JSON.parse(
    JSON.stringify(value, (key, item: unknown) => {
      if (isNumbers(item)) return Array.from(item);
      const isPlain = item === null || ["string", "boolean", "object", "undefined"].includes(typeof item);
      if (isPlain || (typeof item === "number" && Number.isFinite(item))) return item;
      throw new CodedError(
        failure("env.options", `${what} '${key}' cannot travel to another process; use plain finite JSON values`),
      );
    }),
  ) as JsonObject;
}

/** Lenient, for facts that only people read. */
export function factsOf(info: Readonly<Record<string, unknown>>): JsonObject {
  return JSON.parse(
    JSON.stringify(info, (_key, item: unknown) => {
      if (isNumbers(item)) return Array.from(item);
      return typeof item === "bigint" || (typeof item === "number" && !Number.isFinite(item)) ? String(item) : item;
    }),
  ) as JsonObject;
}

const isNumbers = (item: unknown): item is Float32Array => ArrayBuffer.isView(item) && !(item instanceof DataView);
