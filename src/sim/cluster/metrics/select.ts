/** Percentiles of a stretch of numbers, without sorting it. */

/**
 * The nearest-rank percentile (the smallest value that at least that share does not exceed) of the first `count`
 * numbers, which are reordered; null of nothing. Hoare's selection, expected linear time.
 */
export function quantileOf(values: Float64Array, count: number, quantile: number): number | null {
  if (count === 0) return null;
  const rank = Math.min(count - 1, Math.max(0, Math.ceil(quantile * count) - 1));
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const pivot = median3(values[low]!, values[(low + high) >> 1]!, values[high]!);
    let i = low;
    let j = high;
    while (i <= j) {
      while (values[i]! < pivot) i++;
      while (values[j]! > pivot) j--;
      if (i > j) break;
      const swapped = values[i]!;
      values[i++] = values[j]!;
      values[j--] = swapped;
    }
    if (rank <= j) high = j;
    else if (rank >= i) low = i;
    else break;
  }
  return values[rank]!;
}

const median3 = (a: number, b: number, c: number): number =>
  a < b ? (b < c ? b : a < c ? c : a) : a < c ? a : b < c ? c : b;
