import { describe, expect, test } from "vitest";
import { milliseconds, seconds, unwrap } from "../base/index.ts";
import type { Constraint } from "./guard.ts";
import type { Knob } from "./knob.ts";
import type { GuardOptions } from "./limits.ts";
import { parseGuardLimits } from "./limits.ts";

const knob: Knob = {
  name: "batch",
  unit: "requests",
  bounds: { min: 5, max: 100 },
  grain: 5,
  step: { absolute: 10, up: 1, down: 0.5 },
  cooldown: { up: seconds(1), down: seconds(2) },
};
const constraint: Constraint = { rule: "quiet", keep: () => undefined };

test("limits that can be kept have defaults for the rest, and are frozen", () => {
  const limits = unwrap(parseGuardLimits({ knobs: [knob] }));
  expect(limits).toEqual({ knobs: [knob], constraints: [], maxDataAge: 90_000, maxDataSkew: 5000 });
  expect(Object.isFrozen(limits)).toBe(true);
});

test("a knob of any number has bounds and steps of any number", () => {
  const any: Knob = { ...knob, grain: 0, bounds: { min: 0, max: 0.7 }, step: { absolute: 0.05, up: 0, down: 0 } };
  expect(parseGuardLimits({ knobs: [any] }).ok).toBe(true);
});

describe("limits that cannot be kept", () => {
  const one = (change: Partial<Knob>): GuardOptions => ({ knobs: [{ ...knob, ...change }] });
  test.each<{ what: string; options: GuardOptions; says: string }>([
    { what: "no knob", options: { knobs: [] }, says: "give at least one" },
    { what: "two knobs of a name", options: { knobs: [knob, knob] }, says: "two of the name batch" },
    {
      what: "two constraints of a rule",
      options: { knobs: [knob], constraints: [constraint, constraint] },
      says: "two of the name quiet",
    },
    { what: "a knob that every object seems to have", options: one({ name: "constructor" }), says: "constructor" },
    { what: "a knob that no object can have", options: one({ name: "__proto__" }), says: "__proto__" },
    {
      what: "a constraint whose memory every object seems to have",
      options: { knobs: [knob], constraints: [{ ...constraint, rule: "toString" }] },
      says: "toString",
    },
    { what: "a grain below nothing", options: one({ grain: -1 }), says: "the grain of batch is -1" },
    { what: "a grain without end", options: one({ grain: Number.POSITIVE_INFINITY }), says: "the grain" },
    {
      what: "a bound between two multiples",
      options: one({ bounds: { min: 5, max: 99 } }),
      says: "give multiples of 5 of requests",
    },
    {
      what: "half a bound",
      options: one({ grain: 1, bounds: { min: 0.5, max: 3 } }),
      says: "give whole numbers of requests",
    },
    {
      what: "a bound that is no number",
      options: one({ grain: 0, bounds: { min: 0, max: Number.NaN } }),
      says: "give numbers of requests",
    },
    { what: "a negative bound", options: one({ bounds: { min: -5, max: 5 } }), says: "give 0 or more" },
    { what: "bounds the wrong way round", options: one({ bounds: { min: 10, max: 5 } }), says: "above the upper" },
    {
      what: "a step of less than the grain",
      options: one({ step: { absolute: 3, up: 1, down: 1 } }),
      says: "give 5 or a multiple of it",
    },
    {
      what: "a step of nothing",
      options: one({ grain: 0, step: { absolute: 0, up: 1, down: 1 } }),
      says: "never move",
    },
    {
      what: "a step upwards of less than nothing",
      options: one({ step: { absolute: 5, up: -1, down: 1 } }),
      says: "the relative step of batch is -1",
    },
    {
      what: "a step downwards that is no number",
      options: one({ step: { absolute: 5, up: 1, down: Number.NaN } }),
      says: "the relative step",
    },
    {
      what: "a cool-down of less than nothing",
      options: one({ cooldown: { up: seconds(1), down: milliseconds(-1) } }),
      says: "the cool-down of batch",
    },
    { what: "data that may have no age", options: { knobs: [knob], maxDataAge: seconds(0) }, says: "maxDataAge" },
    { what: "a negative skew", options: { knobs: [knob], maxDataSkew: seconds(-1) }, says: "maxDataSkew" },
  ])("$what", ({ options, says }) => {
    const parsed = parseGuardLimits(options);
    expect(parsed).toMatchObject({ ok: false, failure: { code: "guard.limits" } });
    expect(JSON.stringify(parsed)).toContain(says);
  });
});
