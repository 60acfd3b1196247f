/**
 * What a workload's knobs are called, and their values as people read them.
 * Owns: what follows from a knob's title and unit. A knob "CPU per pod" is that of one member, and the knob whose unit is
 * "pods" says how many members there are. Not here: numbers in general (format.ts).
 */
import type { KnobDocument } from "../../../src/contract/index.ts";
import { brief, bytes, cores, plain, whole } from "./format.ts";

type Say = (value: number | null | undefined) => string;

const PER = " per ";

/** "CPU" of "CPU per pod". */
const subjectOf = ({ title }: KnobDocument): string => title.split(PER)[0] ?? title;
const memberOf = ({ title }: KnobDocument): string | undefined => title.split(PER)[1];

/** How many there are of what has so much each; undefined where the knob is about the whole. */
export function countFor(knob: KnobDocument, knobs: readonly KnobDocument[]): KnobDocument | undefined {
  const member = memberOf(knob);
  return member === undefined ? undefined : knobs.find(({ unit }) => unit === `${member}s`);
}

/** Of all members together: "CPU". */
export const nameOfAll = (name: string, knobs: readonly KnobDocument[]): string => {
  const knob = knobs.find((one) => one.name === name);
  return knob === undefined ? name : subjectOf(knob);
};

/** Whether it counts members, or anything else that its title already names. */
export const isCount = ({ unit }: KnobDocument, knobs: readonly KnobDocument[]): boolean =>
  unit !== "" && knobs.some((knob) => `${memberOf(knob)}s` === unit);

/** "1.1 cores", "300 MiB", "750 MB/s"; a count is only its number. */
export function sayFor(knob: KnobDocument, knobs: readonly KnobDocument[]): Say {
  if (isCount(knob, knobs)) return whole;
  switch (knob.unit) {
    case "millicores":
      return cores;
    case "bytes":
      return bytes;
    case "":
      return brief;
    default:
      return (value) => {
        const text = brief(value);
        return Number.isFinite(value) ? `${text} ${knob.unit}` : text;
      };
  }
}

const round2 = (value: number): number => Math.round(value * 100) / 100;

/** For a table, where the unit is part of the name: "Cores per pod" and "1.1". */
export function quantityOf(knob: KnobDocument, knobs: readonly KnobDocument[]): { name: string; say: Say } {
  if (isCount(knob, knobs)) return { name: knob.title, say: whole };
  const member = memberOf(knob);
  const named = (unit: string): string => (member === undefined ? `${knob.title}, ${unit}` : `${unit}${PER}${member}`);
  switch (knob.unit) {
    case "millicores":
      return {
        name: named("Cores"),
        say: (value) => plain(Number.isFinite(value) ? round2(Number(value) / 1000) : null),
      };
    case "bytes":
      return { name: named("MiB"), say: (value) => whole(Number.isFinite(value) ? Number(value) / 2 ** 20 : null) };
    case "":
      return { name: knob.title, say: plain };
    default:
      return { name: `${knob.title}, ${knob.unit}`, say: plain };
  }
}
