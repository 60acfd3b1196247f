/**
 * Spaces as plain JSON, for the first exchange of an environment that lives in another process, and for checkpoints
 * that must know what they were trained on. JSON has no infinity, so an absent bound is null.
 */

import { CodedError, failure } from "../../base/index.ts";
import { type DictSpace, dict, type TupleSpace, tuple } from "./composite-space.ts";
import { box, discrete, multiBinary, multiDiscrete, type NumericSpace, type Space, show } from "./space.ts";

export type SpaceJson =
  | { readonly kind: "box"; readonly low: readonly (number | null)[]; readonly high: readonly (number | null)[] }
  | { readonly kind: "discrete"; readonly options: number }
  | { readonly kind: "multi-discrete"; readonly options: readonly number[] }
  | { readonly kind: "multi-binary"; readonly size: number }
  | { readonly kind: "dict"; readonly parts: Readonly<Record<string, SpaceJson>> }
  | { readonly kind: "tuple"; readonly parts: readonly SpaceJson[] };

export function spaceToJson(space: Space<unknown>): SpaceJson {
  const known = space as NumericSpace | DictSpace | TupleSpace;
  switch (known.kind) {
    case "box":
      return { kind: "box", low: Array.from(known.low, finiteOrNull), high: Array.from(known.high, finiteOrNull) };
    case "discrete":
      return { kind: "discrete", options: known.options };
    case "multi-discrete":
      return { kind: "multi-discrete", options: known.options };
    case "multi-binary":
      return { kind: "multi-binary", size: known.size };
    case "dict":
      return {
        kind: "dict",
        parts: Object.fromEntries(Object.entries(known.parts).map(([key, part]) => [key, spaceToJson(part)])),
      };
    case "tuple":
      return { kind: "tuple", parts: known.parts.map(spaceToJson) };
    default:
      throw bad(space);
  }
}

/** Takes what came over a wire: anything that is not a space is the coded failure `space.invalid`. */
export function spaceFromJson(json: unknown): Space<unknown> {
  if (!isRecord(json)) throw bad(json);
  const { kind, low, high, options, size, parts } = json;
  if (kind === "box" && isBounds(low) && isBounds(high)) {
    return box({
      low: low.map((x) => x ?? Number.NEGATIVE_INFINITY),
      high: high.map((x) => x ?? Number.POSITIVE_INFINITY),
    });
  }
  if (kind === "discrete" && typeof options === "number") return discrete(options);
  if (kind === "multi-discrete" && Array.isArray(options)) return multiDiscrete(options.map(Number));
  if (kind === "multi-binary" && typeof size === "number") return multiBinary(size);
  if (kind === "tuple" && Array.isArray(parts)) return tuple(parts.map(spaceFromJson));
  if (kind === "dict" && isRecord(parts)) {
    return dict(Object.fromEntries(Object.entries(parts).map(([key, part]) => [key, spaceFromJson(part)])));
  }
  throw bad(json);
}

const finiteOrNull = (x: number): number | null => (Number.isFinite(x) ? x : null);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isBounds(value: unknown): value is (number | null)[] {
  return Array.isArray(value) && value.every((x) => x === null || typeof x === "number");
}

function bad(value: unknown): CodedError {
  return new CodedError(
    failure("space.invalid", `expected the JSON of a space with a known kind and its fields, found ${show(value)}`),
  );
}
