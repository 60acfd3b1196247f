import { expect, test } from "vitest";
import { seededRng } from "../../base/index.ts";
import { limitNoise, ShieldedNoise } from "./shielded-noise.ts";

const options = { size: 3, hold: 4, limit: 10, upwards: [true, false, true] };
const gaussian = { kind: "gaussian", sigma: 0.2 } as const;

const pushesOf = (noise: ShieldedNoise, count: number, seed = 1) => {
  const rng = seededRng(seed);
  return Array.from({ length: count }, () => {
    const action = new Float32Array(3);
    noise.addTo(action, rng);
    return [...action];
  });
};

test("a push is held for its steps and then drawn anew", () => {
  const pushes = pushesOf(new ShieldedNoise(gaussian, options), 9);
  expect(new Set(pushes.slice(0, 4).map(String)).size).toBe(1);
  expect(new Set(pushes.map(String)).size).toBe(3);
  expect(pushes[4]).not.toEqual(pushes[3]);
});

test("held for one step it is the process itself", () => {
  const rng = seededRng(1);
  const draws = Array.from({ length: 6 }, () => Math.fround(0.2 * rng.normal()));
  expect(pushesOf(new ShieldedNoise(gaussian, { ...options, hold: 1 }), 2).flat()).toEqual(draws);
});

test("the scale fades it, the limit cuts it, and near the limit some numbers only rise", () => {
  const [whole = []] = pushesOf(new ShieldedNoise(gaussian, options), 1);
  const faded = new ShieldedNoise(gaussian, options);
  faded.scale = 0.5;
  expect(pushesOf(faded, 1)[0]).toEqual(whole.map((x) => Math.fround(x / 2)));
  const cut = new ShieldedNoise(gaussian, { ...options, limit: 0.01 });
  expect(pushesOf(cut, 1)[0]?.map(Math.abs)).toEqual(new Array(3).fill(Math.fround(0.01)));
  const near = new ShieldedNoise(gaussian, options);
  near.isNearLimit = true;
  expect(pushesOf(near, 1)[0]).toEqual(whole.map((x, i) => (i === 1 ? x : Math.max(0, x))));
});

test("in the middle of a held push it comes back from its state", () => {
  const noise = new ShieldedNoise({ kind: "ornstein-uhlenbeck", sigma: 0.3, theta: 0.15, dt: 1 }, options);
  const rng = seededRng(2);
  const draw = (from: ShieldedNoise) => {
    const action = new Float32Array(3);
    from.addTo(action, rng);
    return [...action];
  };
  for (let i = 0; i < 6; i++) draw(noise);
  const copy = new ShieldedNoise({ kind: "ornstein-uhlenbeck", sigma: 0.3, theta: 0.15, dt: 1 }, options);
  copy.restore(noise.state());
  expect(draw(copy)).toEqual(draw(noise));
  expect(copy.state()).toEqual(noise.state());
});

test("noise is cut at its limit, and upwards only where that is asked", () => {
  const calm = Float32Array.of(0, 0, 0);
  const noisy = Float32Array.of(-0.75, -0.125, 0.75);
  const far = noisy.slice();
  limitNoise(far, calm, { limit: 0.5, upwards: [] });
  expect([...far]).toEqual([-0.5, -0.125, 0.5]);
  limitNoise(noisy, calm, { limit: 0.5, upwards: [true, false, true] });
  expect([...noisy]).toEqual([0, -0.125, 0.5]);
});
