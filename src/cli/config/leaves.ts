/**
 * The settings of a schema as a flat list: path, environment variable, type, whether it is a secret.
 * Read off the JSON Schema that zod derives, so that no second list has to be kept.
 */

import { z } from "zod";

export type LeafType = "string" | "number" | "integer" | "boolean" | "texts" | "numbers" | "other";

export interface Leaf {
  readonly path: readonly string[];
  /** COXSWAIN_TRAIN_EVALUATE_EVERY_STEPS for train.evaluateEverySteps, unless the schema's metadata name another. */
  readonly variable: string;
  readonly type: LeafType;
  readonly isSecret: boolean;
}

interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly secret?: boolean;
  readonly variable?: string;
}

export const ENV_PREFIX = "COXSWAIN_";

/** Marks a setting whose value may not be shown: `z.string().meta(SECRET)`. */
export const SECRET = { secret: true } as const;

export function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  return z.toJSONSchema(schema, { io: "input" }) as Record<string, unknown>;
}

export function leavesOf(schema: z.ZodType): readonly Leaf[] {
  const leaves: Leaf[] = [];
  collect(jsonSchemaOf(schema) as JsonSchema, [], leaves);
  return leaves;
}

function collect(schema: JsonSchema, path: readonly string[], into: Leaf[]): void {
  if (schema.properties) {
    for (const [key, child] of Object.entries(schema.properties)) collect(child, [...path, key], into);
    return;
  }
  into.push({
    path,
    variable: schema.variable ?? variableName(path),
    type: typeOf(schema),
    isSecret: schema.secret === true,
  });
}

function typeOf(schema: JsonSchema): LeafType {
  switch (schema.type) {
    case "string":
    case "number":
    case "integer":
    case "boolean":
      return schema.type;
    case "array":
      if (schema.items?.type === "object") return "other";
      return schema.items?.type === "number" || schema.items?.type === "integer" ? "numbers" : "texts";
    default:
      return "other";
  }
}

function variableName(path: readonly string[]): string {
  const words = path.map((key) => key.replace(/([a-z0-9])([A-Z])/g, "$1_$2"));
  return ENV_PREFIX + words.join("_").toUpperCase();
}

/** The keys allowed inside the object at `path`, for suggestions. */
export function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  // One of several shapes: all that have the key are looked into.
  let at: readonly JsonSchema[] = [jsonSchemaOf(schema) as JsonSchema];
  const childOf = ({ properties, items }: JsonSchema, key: PropertyKey) =>
    (typeof key === "number" ? items : properties?.[String(key)]) ?? [];
  for (const key of path) at = at.flatMap((one) => [one, ...(one.anyOf ?? [])].flatMap((shape) => childOf(shape, key)));
  return at.flatMap((one) => [one, ...(one.anyOf ?? [])].flatMap(({ properties }) => Object.keys(properties ?? {})));
}
