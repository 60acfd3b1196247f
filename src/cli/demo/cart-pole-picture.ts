/** The cart and its pole as text: what the four numbers of CartPole's observation look like. */

import { BrailleCanvas } from "../braille-canvas.ts";

/** The cart may move 2.4 to either side before the episode ends. */
const TRACK = 2.4;

export interface PictureSize {
  readonly columns: number;
  readonly rows: number;
}

export function cartPolePicture(obs: ArrayLike<number>, { columns, rows }: PictureSize): string {
  const canvas = new BrailleCanvas(columns, rows);
  const width = columns * 2 - 1;
  const ground = rows * 4 - 1;
  const length = ground * 0.8;
  const centre = ((((obs[0] ?? 0) / TRACK) * 0.9 + 1) / 2) * width;
  const angle = obs[2] ?? 0;
  canvas.line([0, ground], [width, ground]);
  for (let row = ground - 4; row < ground - 1; row++) canvas.line([centre - 5, row], [centre + 5, row]);
  const tip = [centre + Math.sin(angle) * length, ground - 4 - Math.cos(angle) * length] as const;
  for (const shift of [0, 1]) canvas.line([centre + shift, ground - 4], [tip[0] + shift, tip[1]]);
  return canvas.lines().join("\n");
}
