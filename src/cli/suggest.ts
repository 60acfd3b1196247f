/** "Did you mean …?": the nearest of a few known words, if one is near. */

const LONGEST = 200;

export function closest(word: string, known: Iterable<string>): string | undefined {
  // No name is that long, and the distance takes the product of both lengths.
  if (word.length > LONGEST) return undefined;
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  const wanted = word.toLowerCase();
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  // A third of the word may be wrong; beyond that a suggestion is noise.
  const allowed = Math.max(1, Math.ceil(Math.max(word.length, best?.length ?? 0) / 3));
  return bestDistance <= allowed ? best : undefined;
}

/** "; did you mean 'x'?", or nothing. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const match = closest(word, known);
  return match === undefined ? "" : `; did you mean '${match}'?`;
}

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let previous: number[] = [];
  let current = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(
        (current[j - 1] as number) + (same ? 0 : 1),
        (current[j] as number) + 1,
        (next[j - 1] as number) + 1,
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (previous[j - 2] as number) + 1);
      }
      next.push(cost);
    }
    previous = current;
    current = next;
  }
  return current[b.length] as number;
}
