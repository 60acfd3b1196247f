/**
 * The classic environments against Gymnasium, step by step.
 * The fixtures are made by tools/golden/classic_control.py, which says what is in them and why states are put back.
 */

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Core } from "../core.ts";
import { envIds, envSpec, makeEnv } from "../registry.ts";
import { coreRows } from "../rows.ts";
import { singleEnv } from "../single-env.ts";
import type { NumericValue } from "../space.ts";
import { wrapRows } from "../wrapper.ts";
import { timeLimit } from "../wrappers/time-limit.ts";
import { acrobot } from "./acrobot.ts";
import { cartPole } from "./cart-pole.ts";
import { mountainCarContinuous } from "./mountain-car-continuous.ts";
import { pendulum } from "./pendulum.ts";

type Bounds = readonly (number | "inf" | "-inf")[];

interface Golden {
  readonly every: number;
  readonly maxSteps: number;
  readonly rewardThreshold: number | null;
  readonly observationSpace: { readonly low: Bounds; readonly high: Bounds };
  readonly actionSpace: {
    readonly kind: string;
    readonly options?: number;
    readonly low?: Bounds;
    readonly high?: Bounds;
  };
  readonly episodes: readonly {
    readonly name: string;
    readonly steps: number;
    readonly start: readonly number[];
    readonly actions: string;
    readonly obs: string;
    readonly rewards: string;
    readonly states: string;
    readonly end: string;
    readonly firstObs?: string;
  }[];
}

/** Gymnasium's state is the first `published` numbers of ours. */
const cases: readonly { id: string; core: Core; published: number }[] = [
  { id: "CartPole-v1", core: cartPole, published: 4 },
  { id: "Pendulum-v1", core: pendulum, published: 2 },
  { id: "MountainCarContinuous-v0", core: mountainCarContinuous, published: 2 },
  { id: "Acrobot-v1", core: acrobot, published: 4 },
];

const load = (id: string): Golden =>
  JSON.parse(readFileSync(new URL(`../../../../test/fixtures/classic-control/${id}.json`, import.meta.url), "utf8"));

const bytesOf = (text: string): ArrayBuffer => new Uint8Array(Buffer.from(text, "base64")).buffer;
const floats = (text: string): Float32Array => new Float32Array(bytesOf(text));
const doubles = (text: string): Float64Array => new Float64Array(bytesOf(text));
const numbers = (bounds: Bounds): number[] =>
  bounds.map((x) => (x === "inf" ? Number.POSITIVE_INFINITY : x === "-inf" ? Number.NEGATIVE_INFINITY : x));

/** Single-precision numbers around 1 differ by 1.2e-7, around 28 (the fastest joint) by 1.9e-6: hence both terms. */
const near = (ours: number, theirs: number): boolean => Math.abs(ours - theirs) <= 1e-6 + 1e-7 * Math.abs(theirs);

test("every built-in environment has golden trajectories", () => {
  expect(envIds()).toEqual(cases.map(({ id }) => id).sort());
});

describe.each(cases)("$id", ({ id, core, published }) => {
  const golden = load(id);

  test("has Gymnasium's spaces, time limit and threshold", () => {
    const { observationSpace, actionSpace, spec } = makeEnv(id);
    expect(spec.maxSteps).toBe(golden.maxSteps);
    expect(spec.rewardThreshold ?? null).toBe(golden.rewardThreshold);
    expect(observationSpace).toMatchObject({
      low: Float32Array.from(numbers(golden.observationSpace.low)),
      high: Float32Array.from(numbers(golden.observationSpace.high)),
    });
    const { kind, options, low, high } = golden.actionSpace;
    expect(actionSpace.kind).toBe(kind);
    if (kind === "discrete") expect(actionSpace).toMatchObject({ options });
    else
      expect(actionSpace).toMatchObject({
        low: Float32Array.from(numbers(low ?? [])),
        high: Float32Array.from(numbers(high ?? [])),
      });
  });

  test.each(golden.episodes.map((episode) => [episode.name, episode] as const))("rolls out alike: %s", (_, episode) => {
    const states = doubles(episode.states);
    let taken = 0;
    const synchronised: Core = {
      ...core,
      transition(move) {
        if (taken % golden.every === 0) {
          const at = (taken / golden.every) * published;
          const recorded = states.subarray(at, at + published);
          // Before their state replaces ours, the two must have stayed together on their own.
          for (let i = 0; i < published; i++) expect(near(move.state[i]!, recorded[i]!)).toBe(true);
          move.state.set(recorded);
        }
        taken += 1;
        core.transition(move);
      },
    };
    const spec = envSpec(id);
    const env = singleEnv<NumericValue>(wrapRows(coreRows(synchronised, 1), [timeLimit(spec.maxSteps ?? 0)]), spec);
    const state = new Float64Array(core.stateSize);
    state.set(episode.start);
    const { obs: first } = env.reset({ options: { state } });
    if (episode.firstObs !== undefined) {
      floats(episode.firstObs).forEach((theirs, i) => void expect(near(first[i]!, theirs)).toBe(true));
    }

    const actions = floats(episode.actions);
    const obs = floats(episode.obs);
    const rewards = doubles(episode.rewards);
    const { size } = env.observationSpace;
    for (let t = 0; t < episode.steps; t++) {
      const action = env.actionSpace.read(actions, t);
      const step = env.step(action);
      for (let i = 0; i < size; i++) {
        const theirs = obs[t * size + i]!;
        expect(near(step.obs[i]!, theirs), `step ${t}, component ${i}: ${step.obs[i]} for ${theirs}`).toBe(true);
      }
      expect(Math.abs(step.reward - rewards[t]!), `step ${t}: reward`).toBeLessThan(1e-6);
      expect(step.end, `step ${t}`).toBe(t === episode.steps - 1 ? episode.end : "no");
    }
  });
});
