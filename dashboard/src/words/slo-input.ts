/**
 * What a person typed for an SLO, checked before it is sent.
 * Owns: the way from text to numbers and back. Pure.
 * Not here: fields, limits, which the server sets too, and the sentences beside the fields (src/contract/slo.ts).
 */
import {
  type SloDocument,
  type SloField,
  type SloFieldName,
  type SloKindName,
  sloFields,
  sloKindNames,
  sloNumbers,
} from "../../../src/contract/index.ts";

/** As it stands in the fields, also in those that the kind does not have: another one may be chosen. */
export type TypedSlo = { readonly kind: SloKindName } & Readonly<Record<SloFieldName, string>>;

export type SloProblems = Readonly<Partial<Record<SloFieldName, string>>>;

export type CheckedSlo =
  | { readonly ok: true; readonly slo: SloDocument }
  | { readonly ok: false; readonly problems: SloProblems };

export function typedSlo(slo: SloDocument): TypedSlo {
  const numbers = sloNumbers(slo);
  const typed = sloKindNames
    .flatMap(sloFields)
    .map(([name, { usual }]) => [name, String(numbers[name] ?? usual ?? "")] as const);
  return { kind: slo.kind, ...(Object.fromEntries(typed) as Record<SloFieldName, string>) };
}

export function checkSlo(typed: TypedSlo): CheckedSlo {
  const fields = sloFields(typed.kind).map(([name, field]) => [name, numberOf(typed[name]), field] as const);
  const problems = fields.flatMap(([name, value, field]) => {
    const problem = problemOf(value, field);
    return problem === undefined ? [] : [[name, problem] as const];
  });
  if (problems.length > 0) return { ok: false, problems: Object.fromEntries(problems) };
  const numbers = Object.fromEntries(fields.map(([name, value]) => [name, value]));
  return { ok: true, slo: { kind: typed.kind, ...numbers } as SloDocument };
}

function problemOf(value: number | null, { least, most, ask, tooLittle, tooMuch }: SloField): string | undefined {
  if (value === null) return ask;
  if (value < least) return tooLittle ?? ask;
  return value > most ? (tooMuch ?? ask) : undefined;
}

/** With a comma for a decimal point as well; null where it is no number. */
function numberOf(text: string): number | null {
  const trimmed = text.trim().replace(",", ".");
  return /^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(trimmed) ? Number(trimmed) : null;
}

/** Which field a refusal of the server is about; null where it is about none of them. */
export function fieldOf(code: string, detail: string): SloFieldName | null {
  if (code === "plane.slo-quantile" || /\bquantile\b/.test(detail)) return "quantile";
  return code === "slo.invalid" || /\btarget\b/.test(detail) ? "target" : null;
}
