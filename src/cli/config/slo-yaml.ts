/**
 * SLOs as a profile writes them: `none`, or a kind with its keys.
 * Owns: the way from the rows of contract/slo.ts to keys, and back to text. Not here: the other keys (profile-schema.ts).
 */
import { z } from "zod";
import { type SloKindName, sloFields, sloKindNames, sloNumbers } from "../../contract/index.ts";
import { sloNumberSchema } from "../../contract/schemas/index.ts";
import type { Slo } from "../../observe/telemetry/index.ts";

/** A kind that asks for nothing is its name alone. */
const bare = sloKindNames.filter((kind) => sloFields(kind).length === 0);
const keyed = sloKindNames.filter((kind) => sloFields(kind).length > 0);

const keysOf = (kind: SloKindName) =>
  z.strictObject(
    Object.fromEntries(
      sloFields(kind).map(([, field]) => {
        const value = sloNumberSchema(field);
        return [field.key, (field.usual === undefined ? value : value.default(field.usual)).describe(field.keyAbout)];
      }),
    ),
  );

const exampleOf = (kind: SloKindName): string =>
  `'${kind}: { ${sloFields(kind)
    .map(([, { key, example }]) => `${key}: ${example}`)
    .join(", ")} }'`;

const examples = keyed.map(exampleOf);

export const sloYaml = z
  .union(
    [z.literal(bare), ...keyed.map((kind) => z.strictObject({ [kind]: keysOf(kind) }))],
    `must be ${bare.map((kind) => `'${kind}'`).join(", ")}, or one of ${examples.slice(0, -1).join(", ")} and ${examples.at(-1)}`,
  )
  .transform((given) => sloOf(given as SloKindName | Written));

/** What the schema has accepted: one kind, with a number for each of its keys. */
type Written = { readonly [kind in SloKindName]?: Readonly<Record<string, number>> };

function sloOf(given: SloKindName | Written): Slo {
  if (typeof given === "string") return { kind: given } as Slo;
  const [kind, values] = Object.entries(given)[0] as [SloKindName, Readonly<Record<string, number>>];
  const numbers = sloFields(kind).map(([name, { key }]) => [name, values[key]]);
  return { kind, ...Object.fromEntries(numbers) } as Slo;
}

export function sloText(slo: Slo): unknown {
  const fields = sloFields(slo.kind);
  const numbers = sloNumbers(slo);
  if (fields.length === 0) return slo.kind;
  return { [slo.kind]: Object.fromEntries(fields.map(([name, { key }]) => [key, numbers[name]])) };
}
