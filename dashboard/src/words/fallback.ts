/**
 * What the fallback is called: every agent says it of its own.
 * Owns: the general word where no agent is known. Sentences with it stand in a form that fits one and many
 * ("left to …", "would …", "acted"), for a title may be either.
 */
import type { AgentDocument, FallbackDocument } from "../../../src/contract/index.ts";

export const UNKNOWN_FALLBACK: FallbackDocument = { name: "", title: "the fallback" };

export const fallbackTitle = (agent: Pick<AgentDocument, "fallback"> | null | undefined): string =>
  (agent?.fallback ?? UNKNOWN_FALLBACK).title;

/** Of several: what it is called where all are the same. */
export function commonTitle(fallbacks: readonly FallbackDocument[]): string {
  const [first, ...others] = new Set(fallbacks.map(({ title }) => title));
  return first !== undefined && others.length === 0 ? first : UNKNOWN_FALLBACK.title;
}

/** As the beginning of a sentence. */
export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** A sentence of a table, with the title where it has `{fallback}`. */
export const withFallback = (sentence: string, title: string): string =>
  capitalized(sentence.replaceAll("{fallback}", title));
