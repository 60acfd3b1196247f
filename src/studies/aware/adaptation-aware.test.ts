import { expect, test } from "vitest";
import { tinyModel } from "../../../test/fixtures/meta/tiny-model.ts";
import { encodingWork } from "./adaptation-aware.ts";

const model = await tinyModel();

test("reading a trajectory costs three gates of each direction and layer at every step", () => {
  // Width 4 over 17 numbers (13 seen, 3 done, 1 earned): 2·3·4·(17 + 4), and the second layer over both directions' 8.
  expect(encodingWork(model, 100)).toBe(100 * (2 * 3 * 4 * 21 + 2 * 3 * 4 * 12));
});
