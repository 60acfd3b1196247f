/**
 * Spaces and values as messages.
 * Owns: both directions of a space, and values as the float32 numbers of `Space.write`.
 * Not here: the messages themselves (proto/coxswain/env/v1/env.proto).
 */
import { create } from "@bufbuild/protobuf";
import { CodedError, failure } from "../../base/index.ts";
import {
  box,
  type DictSpace,
  dict,
  discrete,
  multiBinary,
  multiDiscrete,
  type NumericSpace,
  type Space,
  type TupleSpace,
  tuple,
} from "../../learn/env/index.ts";
import { type Space as SpaceMessage, SpaceSchema } from "./generated/coxswain/env/v1/env_pb.ts";

/** Larger whole numbers are not all float32 numbers, so a choice beyond would arrive as another one. */
const MOST_OPTIONS = 2 ** 24;
/** A space from another process may be nested without end. */
const DEEPEST = 16;

export function spaceToMessage(space: Space<unknown>): SpaceMessage {
  const known = space as NumericSpace | DictSpace | TupleSpace;
  switch (known.kind) {
    case "box":
      return create(SpaceSchema, {
        kind: { case: "box", value: { low: Array.from(known.low), high: Array.from(known.high) } },
      });
    case "discrete":
      return create(SpaceSchema, { kind: { case: "discrete", value: { options: optionsThatFit(known.options) } } });
    case "multi-discrete":
      return create(SpaceSchema, {
        kind: { case: "multiDiscrete", value: { options: known.options.map(optionsThatFit) } },
      });
    case "multi-binary":
      return create(SpaceSchema, { kind: { case: "multiBinary", value: { size: known.size } } });
    case "tuple":
      return create(SpaceSchema, { kind: { case: "tuple", value: { parts: known.parts.map(spaceToMessage) } } });
    case "dict": {
      const parts = Object.entries(known.parts).map(([name, part]) => ({ name, space: spaceToMessage(part) }));
      return create(SpaceSchema, { kind: { case: "dict", value: { parts } } });
    }
    default:
      throw unsupported(`a space of the kind '${String((space as { kind: unknown }).kind)}'`);
  }
}

/** Takes what came over a wire: anything that is not a space is a coded failure. */
export function spaceFromMessage(message: SpaceMessage | undefined, depth = 0): Space<unknown> {
  if (depth > DEEPEST) throw unsupported(`a space nested deeper than ${DEEPEST}`);
  const inside = (part: SpaceMessage | undefined) => spaceFromMessage(part, depth + 1);
  const kind = message?.kind;
  switch (kind?.case) {
    case "box":
      return box({ low: kind.value.low, high: kind.value.high });
    case "discrete":
      return discrete(kind.value.options);
    case "multiDiscrete":
      return multiDiscrete(kind.value.options);
    case "multiBinary":
      return multiBinary(kind.value.size);
    case "tuple":
      return tuple(kind.value.parts.map(inside));
    case "dict":
      return dict(Object.fromEntries(kind.value.parts.map(({ name, space }) => [name, inside(space)])));
    case undefined:
      throw new CodedError(
        failure("env.protocol", "the environment's host described no space; use the same version on both ends"),
      );
  }
}

/** The numbers of a value; a value of another shape is the failure `space.mismatch`. */
export function valueToNumbers(space: Space<unknown>, value: unknown): number[] {
  const numbers = new Float64Array(space.size);
  space.write(value, numbers);
  return Array.from(numbers);
}

export function valueFromNumbers(space: Space<unknown>, numbers: readonly number[]): unknown {
  if (numbers.length === space.size) return space.read(numbers);
  throw new CodedError(
    failure(
      "space.mismatch",
      `expected ${space.describe()}, which travels as ${space.size} numbers, and ${numbers.length} arrived; pass a value of the declared space`,
    ),
  );
}

function optionsThatFit(options: number): number {
  if (options <= MOST_OPTIONS) return options;
  throw unsupported(`a choice among ${options} options (${MOST_OPTIONS} is the most that float32 tells apart)`);
}

function unsupported(what: string): CodedError {
  return new CodedError(
    failure("env.unsupported-space", `${what} cannot travel between processes; describe the value with another space`),
  );
}
