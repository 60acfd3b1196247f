/** Which seeds a study runs with, how they read in a sentence, and the options that ask for the same ones again. */

import type { Study } from "../../studies/index.ts";
import { usageError } from "../failures.ts";

export interface SeedChoice {
  readonly quick: boolean;
  /** How many; absent: what the study asks for. */
  readonly seeds: number | undefined;
  /** The first of them; absent: what the study asks for. */
  readonly firstSeed: number | undefined;
}

type Seeded = Pick<Study, "seeds">;

const usual = ({ seeds }: Seeded, quick: boolean) => ({
  count: quick ? seeds.quick : seeds.full,
  first: seeds.first ?? 1,
});

export function seedsOf(study: Seeded, choice: SeedChoice): readonly number[] {
  const { count: usualCount, first: usualFirst } = usual(study, choice.quick);
  const count = choice.seeds ?? usualCount;
  const first = choice.firstSeed ?? usualFirst;
  if (first > Number.MAX_SAFE_INTEGER - (count - 1)) {
    throw usageError(
      `${count} seeds from ${first} on go beyond ${Number.MAX_SAFE_INTEGER}, the largest whole number a seed can be`,
      "choose a smaller --first-seed",
    );
  }
  return Array.from({ length: count }, (_, i) => first + i);
}

/** "10 seeds (101 to 110)". */
export function seedsText(seeds: readonly number[]): string {
  const [first, last] = [seeds[0], seeds.at(-1)];
  if (seeds.length === 1) return `1 seed (${first})`;
  return seeds.length === 0 ? "no seeds" : `${seeds.length} seeds (${first} to ${last})`;
}

/** What a command line has to say to get exactly these; nothing where they are the study's own. */
export function seedOptions(study: Seeded, { quick, seeds }: { quick: boolean; seeds: readonly number[] }): string {
  const { count, first } = usual(study, quick);
  const options: string[] = [];
  if (seeds.length !== count) options.push(`--seeds ${seeds.length}`);
  if (seeds[0] !== undefined && seeds[0] !== first) options.push(`--first-seed ${seeds[0]}`);
  return options.join(" ");
}
