/**
 * Spaces made of spaces: named parts (dict) and ordered parts (tuple).
 * Their values are carried by the numbers of their parts, one after the other; a dict's parts in the order of its keys.
 */

import { CodedError, failure } from "../../base/index.ts";
import { mismatch, type Space } from "./space.ts";

export type SpaceRecord = Readonly<Record<string, Space<unknown>>>;
export type ValueOf<S> = S extends Space<infer T> ? T : never;
export type DictValue<S extends SpaceRecord> = { readonly [K in keyof S]: ValueOf<S[K]> };
export type TupleValue<S extends readonly Space<unknown>[]> = { readonly [I in keyof S]: ValueOf<S[I]> };

export interface DictSpace<S extends SpaceRecord = SpaceRecord> extends Space<DictValue<S>> {
  readonly kind: "dict";
  readonly parts: S;
}

export interface TupleSpace<S extends readonly Space<unknown>[] = readonly Space<unknown>[]>
  extends Space<TupleValue<S>> {
  readonly kind: "tuple";
  readonly parts: S;
}

export function dict<S extends SpaceRecord>(parts: S): DictSpace<S> {
  const keys = Object.keys(parts);
  const row = rowOf(Object.values(parts));
  const valuesOf = (value: unknown): unknown[] | undefined => {
    if (typeof value !== "object" || value === null) return undefined;
    const found = Object.keys(value);
    if (found.length !== keys.length || !keys.every((key) => key in value)) return undefined;
    return keys.map((key) => (value as Record<string, unknown>)[key]);
  };
  const space: DictSpace<S> = {
    kind: "dict",
    size: row.size,
    parts,
    contains: (value): value is DictValue<S> => row.contains(valuesOf(value)),
    sample: (rng) => named(keys, row.sample(rng)) as DictValue<S>,
    write: (value, into, at = 0) => {
      const values = valuesOf(value);
      if (values === undefined) throw mismatch(space, value);
      row.write(values, into, at);
    },
    read: (from, at = 0) => named(keys, row.read(from, at)) as DictValue<S>,
    accepts: row.accepts,
    describe: () => `an object of ${keys.map((key) => `${key}: ${parts[key]?.describe()}`).join("; ")}`,
  };
  return space;
}

export function tuple<const S extends readonly Space<unknown>[]>(parts: S): TupleSpace<S> {
  const row = rowOf(parts);
  const space: TupleSpace<S> = {
    kind: "tuple",
    size: row.size,
    parts,
    contains: (value): value is TupleValue<S> => Array.isArray(value) && row.contains(value),
    sample: (rng) => row.sample(rng) as unknown as TupleValue<S>,
    write: (value, into, at = 0) => {
      if (!Array.isArray(value) || value.length !== parts.length) throw mismatch(space, value);
      row.write(value, into, at);
    },
    read: (from, at = 0) => row.read(from, at) as unknown as TupleValue<S>,
    accepts: row.accepts,
    describe: () => `an array of ${parts.map((part) => part.describe()).join("; ")}`,
  };
  return space;
}

type Row = Pick<Space<readonly unknown[]>, "size" | "sample" | "write" | "read" | "accepts"> & {
  contains(values: readonly unknown[] | undefined): boolean;
};

/** What both kinds share: parts next to each other in one row of numbers. */
function rowOf(parts: readonly Space<unknown>[]): Row {
  if (parts.length === 0) {
    throw new CodedError(failure("space.invalid", "a dict or tuple space needs at least one part; add one"));
  }
  const starts: number[] = [];
  let size = 0;
  for (const part of parts) {
    starts.push(size);
    size += part.size;
  }
  const each = parts.map((part, i) => ({ part, start: starts[i] ?? 0 }));
  return {
    size,
    contains: (values) => values?.length === parts.length && each.every(({ part }, i) => part.contains(values[i])),
    sample: (rng) => each.map(({ part }) => part.sample(rng)),
    write: (values, into, at = 0) => {
      for (const [i, { part, start }] of each.entries()) part.write(values[i], into, at + start);
    },
    read: (from, at = 0) => each.map(({ part, start }) => part.read(from, at + start)),
    accepts: (from, at = 0) => each.every(({ part, start }) => part.accepts(from, at + start)),
  };
}

function named(keys: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(keys.map((key, i) => [key, values[i]]));
}
