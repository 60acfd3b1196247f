/**
 * The few distribution functions that the tests need, to about 1e-13 relative where a p-value is not vanishing.
 * Continued fractions are evaluated by Lentz's method as modified by Thompson and Barnett (1986).
 */

const TINY = 1e-300;
const PRECISION = 1e-16;
const MAX_TERMS = 500;

/** P(Z > z) for a standard normal. */
export function normalUpperTail(z: number): number {
  return z >= 0 ? erfc(z / Math.SQRT2) / 2 : 1 - erfc(-z / Math.SQRT2) / 2;
}

/** P(T > t) for Student's t; the degrees of freedom need not be whole. */
export function studentUpperTail(t: number, degrees: number): number {
  const tail = regularisedBeta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
  return t >= 0 ? tail : 1 - tail;
}

/** erfc(x) for x ≥ 0. */
function erfc(x: number): number {
  if (x < 2) {
    // The alternating series would cancel; this one has only positive terms: 2x/√π · e^(−x²) · Σ (2x²)ⁿ/(1·3·…·(2n+1)).
    let term = 1;
    let total = 1;
    for (let n = 1; n < MAX_TERMS && term > PRECISION * total; n++) {
      term *= (2 * x * x) / (2 * n + 1);
      total += term;
    }
    return 1 - ((2 * x) / Math.sqrt(Math.PI)) * Math.exp(-x * x) * total;
  }
  // erfc(x) = e^(−x²)/√π · 1/(x + ½/(x + 1/(x + 3⁄2/(x + …)))).
  let f = x;
  let c = x;
  let d = 0;
  for (let n = 1; n < MAX_TERMS; n++) {
    d = 1 / (x + (n / 2) * d);
    c = x + n / 2 / c;
    const change = c * d;
    f *= change;
    if (Math.abs(change - 1) < PRECISION) break;
  }
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * f);
}

/** I_x(a, b), the share of a Beta(a, b) below x. */
export function regularisedBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast on one side of the mean; the other side is its mirror image.
  if (x > (a + 1) / (a + b + 2)) return 1 - regularisedBeta(1 - x, b, a);
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b)) / a;
  let c = 1;
  let d = 1 / nonZero(1 - ((a + b) * x) / (a + 1));
  let f = d;
  for (let m = 1; m < MAX_TERMS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonZero(1 + even * d);
    c = nonZero(1 + even / c);
    f *= c * d;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonZero(1 + odd * d);
    c = nonZero(1 + odd / c);
    const change = c * d;
    f *= change;
    if (Math.abs(change - 1) < PRECISION) break;
  }
  return front * f;
}

/** ln Γ(x) for x > 0: shifted up until Stirling's series is exact to double precision. */
export function logGamma(x: number): number {
  let shift = 0;
  let z = x;
  while (z < 12) {
    shift += Math.log(z);
    z += 1;
  }
  const r = 1 / (z * z);
  const series = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * (1 / 1188 - (r * 691) / 360_360))))) / z;
  return (z - 0.5) * Math.log(z) - z + 0.5 * Math.log(2 * Math.PI) + series - shift;
}

function nonZero(value: number): number {
  return Math.abs(value) < TINY ? TINY : value;
}
