import { expect, test } from "vitest";
import type { WorkOffer, WorkOutcome } from "./work-messages.ts";
import {
  buildMark,
  OFFER_BYTES,
  OUTCOME_BYTES,
  offerId,
  readBeat,
  readOffer,
  readOutcome,
  writeMessage,
} from "./work-messages.ts";

const build = {
  version: "1.0.0",
  sources: "0123456789abcdef",
  kernels: "wasm",
  engine: "v8 11",
  arch: "x64",
  modules: "",
} as const;
const offer: WorkOffer = {
  schema: 1,
  build,
  study: "coin",
  quick: true,
  fingerprint: "fedcba9876543210",
  job: { kind: "unit", seed: 3, unit: "fair", models: {} },
};
const outcome: WorkOutcome = {
  schema: 1,
  by: "a:1",
  seconds: 1.5,
  result: { kind: "value", value: { heads: [1, 2] } },
};

const bytes = (value: unknown) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));

test("offers, outcomes and beats come back as they were written", () => {
  expect(readOffer(writeMessage(offer))).toEqual({ ok: true, value: offer });
  expect(readOutcome(writeMessage(outcome))).toEqual({ ok: true, value: outcome });
  expect(readBeat(writeMessage({ fraction: 0.25 }))).toBe(0.25);
});

test.each([
  ["no JSON", "{"],
  ["no text", new Uint8Array([0xff, 0xfe])],
  ["brackets without end", "[".repeat(OFFER_BYTES)],
  ["more bytes than an offer may have", { ...offer, study: "x".repeat(OFFER_BYTES) }],
  ["a key that nobody knows", { ...offer, module: "/etc/passwd" }],
  ["settings of its own", { ...offer, job: { ...offer.job, config: {} } }],
  ["a seed that is no whole number", { ...offer, job: { ...offer.job, seed: 0.5 } }],
  ["a fingerprint that would be another subject", { ...offer, fingerprint: "fedcba987654321.>" }],
  ["another schema", { ...offer, schema: 2 }],
])("%s is refused as an offer", (_name, content) => {
  const read = readOffer(content instanceof Uint8Array ? content : bytes(content));
  expect(read).toMatchObject({ ok: false, failure: { code: "work.malformed" } });
});

test.each([
  ["time before it began", { ...outcome, seconds: -1 }],
  ["time without end", JSON.stringify(outcome).replace("1.5", "1e999")],
  ["a code that is none", { ...outcome, result: { kind: "failure", code: "<script>", message: "x" } }],
  ["an object of no size", { ...outcome, result: { kind: "object", bytes: 1e15 } }],
  ["more bytes than an outcome may have", { ...outcome, result: { kind: "value", value: "x".repeat(OUTCOME_BYTES) } }],
])("%s is refused as an outcome", (_name, content) => {
  expect(readOutcome(bytes(content))).toMatchObject({ ok: false, failure: { code: "work.malformed" } });
});

test("a beat that says nothing is none", () => {
  for (const content of ["", "{}", '{"fraction":2}', '{"fraction":1e999}', " ".repeat(1_000)])
    expect(readBeat(bytes(content))).toBeUndefined();
});

test("an offer has one name, and another where anything of it differs", () => {
  const models = { small: "a".repeat(64), large: "b".repeat(64) };
  const turned = { large: models.large, small: models.small };
  const named = (job: WorkOffer["job"]) => offerId({ ...offer, job });
  const unit = { kind: "unit", seed: 3, unit: "fair" } as const;
  expect(named({ ...unit, models })).toBe(named({ ...unit, models: turned }));
  const names = [
    offerId(offer),
    offerId({ ...offer, study: "dice" }),
    offerId({ ...offer, quick: false }),
    offerId({ ...offer, fingerprint: "0000000000000000" }),
    offerId({ ...offer, build: { ...build, arch: "arm64" } }),
    named({ ...unit, models }),
    named({ ...unit, seed: 4, models: {} }),
    named({ ...unit, unit: "loaded", models: {} }),
    named({ kind: "model", name: "fair" }),
  ];
  expect(new Set(names).size).toBe(names.length);
  expect(names.every((name) => /^[0-9a-f]{32}$/.test(name))).toBe(true);
});

test("each part of a build makes it another one", () => {
  const others = Object.keys(build).map((part) => buildMark({ ...build, [part]: "ffffffffffffffff" }));
  expect(new Set([buildMark(build), ...others]).size).toBe(7);
});
