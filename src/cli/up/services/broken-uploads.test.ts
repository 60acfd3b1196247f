import { expect, test } from "vitest";
import type { IntakeCounts } from "../../../adapters/otlp/index.ts";
import type { Ms } from "../../../base/index.ts";
import { BrokenUploads } from "./broken-uploads.ts";

const counts = (aborted: number, noise = 0): IntakeCounts => ({
  requests: aborted + noise,
  spans: 0,
  refused: { "otlp.aborted": aborted, "otlp.not-http": noise, "otlp.busy": 7 },
  dropped: {} as IntakeCounts["dropped"],
});

test("broken-off uploads are told as a count, at once and then at most once a minute", () => {
  const broken = new BrokenUploads();
  const at = (ms: number, found: IntakeCounts) => broken.sentence(found, ms as Ms);
  expect(at(0, counts(0))).toBeNull();
  expect(at(1_000, counts(1))).toMatch(/^since the start 1 uploads .* broken off .* 0 connections/);
  for (let k = 2; k < 60; k++) expect(at(1_000 * k, counts(k))).toBeNull();
  expect(at(61_000, counts(217, 3_000))).toMatch(/^since the start 217 .* 3000 connections/);
  expect(at(200_000, counts(217, 3_000))).toBeNull();
});
