/**
 * A binary tree of partial sums: change a weight and draw in proportion to weights, both in logarithmic time.
 * A parent is recomputed from its children, never adjusted by a difference, so rounding does not build up.
 */

export class SumTree {
  readonly #leaves: number;
  /** Node 1 is the root, node i has the children 2i and 2i + 1; the leaves fill the second half. */
  readonly #nodes: Float64Array;

  constructor(capacity: number) {
    let leaves = 1;
    while (leaves < capacity) leaves *= 2;
    this.#leaves = leaves;
    this.#nodes = new Float64Array(2 * leaves);
  }

  get total(): number {
    return this.#nodes[1]!;
  }

  weight(index: number): number {
    return this.#nodes[this.#leaves + index]!;
  }

  set(index: number, weight: number): void {
    const nodes = this.#nodes;
    let node = this.#leaves + index;
    nodes[node] = weight;
    for (node >>= 1; node >= 1; node >>= 1) nodes[node] = nodes[2 * node]! + nodes[2 * node + 1]!;
  }

  /** The index where the running sum of weights passes `mass`; for a mass in [0, total) its weight is never zero. */
  find(mass: number): number {
    const nodes = this.#nodes;
    let rest = mass;
    let node = 1;
    while (node < this.#leaves) {
      const left = 2 * node;
      // The second condition catches a mass that rounding has pushed past everything on the right.
      if (rest < nodes[left]! || nodes[left + 1] === 0) {
        node = left;
      } else {
        rest -= nodes[left]!;
        node = left + 1;
      }
    }
    return node - this.#leaves;
  }
}
