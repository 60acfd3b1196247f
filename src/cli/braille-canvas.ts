/** A drawing of dots as text: each braille character holds two dots across and four down. */

/** Bit of each dot inside one braille cell, by column and row. */
const DOTS = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

export class BrailleCanvas {
  readonly #width: number;
  readonly #height: number;
  readonly #cells: Uint8Array;

  constructor(width: number, height: number) {
    this.#width = width;
    this.#height = height;
    this.#cells = new Uint8Array(width * height);
  }

  dot(x: number, y: number): void {
    const [column, row] = [Math.round(x), Math.round(y)];
    if (column < 0 || row < 0 || column >= this.#width * 2 || row >= this.#height * 4) return;
    const cell = (row >> 2) * this.#width + (column >> 1);
    this.#cells[cell] = (this.#cells[cell] as number) | (DOTS[column % 2 === 0 ? 0 : 1][row % 4] as number);
  }

  dashed(y: number): void {
    for (let x = 0; x < this.#width * 2; x += 4) this.dot(x, y);
  }

  line(from: readonly [number, number], to: readonly [number, number]): void {
    const steps = Math.max(1, Math.ceil(Math.max(Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1]))));
    for (let i = 0; i <= steps; i++) {
      const share = i / steps;
      this.dot(from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share);
    }
  }

  lines(): string[] {
    return Array.from({ length: this.#height }, (_, row) =>
      Array.from(this.#cells.subarray(row * this.#width, (row + 1) * this.#width), (bits) =>
        String.fromCodePoint(0x2800 + bits),
      ).join(""),
    );
  }
}
