/** The bounds of SLOs are what a person can mean, and the same wherever one is given. */
import { expect, test } from "vitest";
import { sloFields, sloKindNames } from "../index.ts";
import { requestSloSchema } from "./services.ts";
import { sloNumberSchema, sloSchema } from "./slo.ts";

const fields = sloKindNames.flatMap((kind) => sloFields(kind).map(([name, field]) => ({ kind, name, field })));

test.each(fields)("the $name of $kind has bounds, and takes them and its example", ({ field }) => {
  const takes = (value: number): boolean => sloNumberSchema(field).safeParse(value).success;
  expect([field.least, field.example, field.most].every(takes)).toBe(true);
  expect([field.least * 0.99, field.most * 1.01, 5e-324, -1, 0, Number.MAX_VALUE].some(takes)).toBe(false);
});

test("a target that no request and no clock can keep is refused in a document and of a request type", () => {
  expect(sloSchema.safeParse({ kind: "latency", quantile: 0.99, target: 5e-324 }).success).toBe(false);
  expect(requestSloSchema.safeParse({ request: "GET /", sloMs: 5e-324 }).success).toBe(false);
  expect(requestSloSchema.safeParse({ request: "GET /", sloMs: 250 }).success).toBe(true);
});
