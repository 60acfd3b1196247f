/** How alike two environments are, by their embeddings: the cosine of the angle between them, as both papers measure it. */

/** From −1 to 1; 0 when one of the two is the neutral embedding, which is like nothing. */
export function cosineSimilarity(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) {
    throw new RangeError(`embeddings of ${a.length} and ${b.length} numbers cannot be compared`);
  }
  let dot = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < a.length; i++) {
    dot += a[i]! * b[i]!;
    aa += a[i]! * a[i]!;
    bb += b[i]! * b[i]!;
  }
  if (aa === 0 || bb === 0) return 0;
  // Rounding must not make a vector more like itself than alike.
  return Math.min(Math.max(dot / Math.sqrt(aa * bb), -1), 1);
}
