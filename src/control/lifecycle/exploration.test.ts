import { expect, test } from "vitest";
import { Exploration } from "./exploration.ts";

const options = {
  noise: { kind: "gaussian", sigma: 1 },
  holdNoise: 1,
  fade: { episodes: 10, to: 0.25 },
  size: 1,
  limit: Number.POSITIVE_INFINITY,
  upwards: [],
  seed: 3,
} as const;

/** The push of the next step, on a calm action of 0. */
function pushOf(exploration: Exploration): number {
  const action = Float32Array.of(0);
  const { rng, noise } = exploration.explorer({ isNearLimit: false });
  noise?.addTo(action, rng);
  return action[0] ?? Number.NaN;
}

function begun(isPractised: boolean, episodes = 0): Exploration {
  const exploration = new Exploration(options);
  exploration.begin({ isPractised });
  for (let i = 0; i < episodes; i++) exploration.endEpisode({ isOnline: true });
  exploration.fade({ isPractised });
  return exploration;
}

test("what is tried out fades with the episodes of a training, and a practised policy begins where it ends", () => {
  const whole = pushOf(begun(false));
  expect(Math.abs(whole)).toBeGreaterThan(0.01);
  // From 1 to 0.25 over ten episodes: after four of them 1 − 0.75 · 0.4.
  expect(pushOf(begun(false, 4))).toBeCloseTo(0.7 * whole, 6);
  expect(pushOf(begun(false, 30))).toBeCloseTo(0.25 * whole, 6);
  expect(pushOf(begun(true))).toBeCloseTo(0.25 * whole, 6);
});

test("it goes on after a restart as it would have", () => {
  const one = begun(false, 3);
  pushOf(one);
  const other = new Exploration({ ...options, seed: 99 });
  other.restore(JSON.parse(JSON.stringify(one.state())));
  other.fade({ isPractised: false });
  expect([pushOf(other), pushOf(other)]).toEqual([pushOf(one), pushOf(one)]);
});
