/**
 * Reading parsed JSON of a stranger: every field may be anything.
 * Owns: the few questions that the three JSON formats ask. An answer of the wrong kind is `undefined`, never a guess.
 */

export type PlainObject = Readonly<Record<string, unknown>>;

export const objectIn = (value: unknown): PlainObject | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as PlainObject) : undefined;

/** An absent list is an empty one in all three formats. */
export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Numbers that are too large for JSON's readers travel as texts. */
export function numberIn(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** The first bytes of a text that is a JSON document, or why it is none. */
export function parsedJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (thrown) {
    return { problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

const strict = new TextDecoder("utf-8", { fatal: true });

/** Undefined when the bytes are no UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}
