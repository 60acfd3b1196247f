/**
 * SLOs as a schema, made of the rows in ../slo.ts.
 * Owns: a kind's fields with their bounds as zod. Not here: the YAML of a profile (cli/config/slo-yaml.ts).
 */
import { z } from "zod";
import { type SloDocument, type SloField, type SloKindName, sloFields, sloKindNames, sloKinds } from "../index.ts";
import { number, part } from "./parts.ts";

/** The bounds are what a person can mean by an SLO; a document of the plane keeps to them as well. */
export const sloNumberSchema = ({ least, most }: SloField): z.ZodNumber => number.min(least).max(most);

/** Of a request type, which is always a latency. */
export const requestSloMs = sloNumberSchema(sloKinds.latency.fields.target);

const kindSchema = (kind: SloKindName) =>
  part({
    kind: z.literal(kind),
    ...Object.fromEntries(
      sloFields(kind).map(([name, field]) => [name, sloNumberSchema(field).meta({ description: field.about })]),
    ),
  });

const [first, ...others] = sloKindNames.map(kindSchema) as [
  ReturnType<typeof kindSchema>,
  ...ReturnType<typeof kindSchema>[],
];

// The rows give the plain type and the schema alike, and only the first of the two can be told to the compiler.
export const sloSchema = z.discriminatedUnion("kind", [first, ...others]).meta({ id: "Slo" }) as unknown as z.ZodType<
  SloDocument,
  SloDocument
>;
