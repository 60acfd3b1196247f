/**
 * Studies for work queues: small, the same to the byte wherever they run, and slow enough to be killed in the middle.
 * `walk` has a unit with a short result and one whose result is too large for a message.
 */

const STEPS = 40;
const STEP_MS = 15;

/** A few steps with pauses between them, so that a job takes time without taking the cores of a small machine. */
async function walk({ seed, unit, config, progress }) {
  const length = config.lengths[unit];
  const path = [];
  let state = (seed * 7919 + length) >>> 0;
  let at = 0;
  for (let step = 0; step < STEPS; step++) {
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    for (let i = 0; i < length / STEPS; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      at += Math.sin(state) / 3;
      path.push(at);
    }
    progress(step / STEPS);
  }
  return { at, path };
}

const study = {
  id: "walk",
  title: "A walk",
  about: "How far a walk of fixed length goes.",
  world: "none",
  seeds: { quick: 8, full: 8 },
  config: () => ({ lengths: { short: 40, long: 10_000 } }),
  units: ({ lengths }) => Object.keys(lengths),
  runUnit: walk,
  rows: (results) => [
    {
      id: "far",
      what: "distance",
      paper: null,
      ours: {
        mean: results.reduce((sum, { result }) => sum + Math.abs(result.at), 0) / results.length,
        lo: 0,
        hi: 1000,
        n: results.length,
        unit: "",
      },
      claim: "shown, not judged",
      kind: "shown",
      holds: null,
    },
  ],
  figures: () => [],
};

export const studies = [
  study,
  {
    ...study,
    id: "walk-broken",
    runUnit(job) {
      // Only where it is told to: on one machine of several.
      if (process.env.WALK_BREAKS === "1") throw new Error("a shoe is lost");
      return walk(job);
    },
  },
];
