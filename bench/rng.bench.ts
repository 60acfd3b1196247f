/**
 * `coxswain bench rng`: our random numbers against pure-rand's xoroshiro128+, which users might expect instead.
 * Uniform doubles of 53 bits in both, so that the same work is compared.
 */

import { createRequire } from "node:module";
import { join } from "node:path";
import { type Rng, seededRng } from "../src/base/index.ts";
import { type Measured, plainFigure, speedup } from "./comparison.ts";
import { interleave, local } from "./measure.ts";
import { type Bench, type BenchReport, describeMachine, type Figure } from "./report.ts";
import { nodePeer, setupOptions } from "./setup.ts";
import type { Timing } from "./statistics.ts";

/** Draws per call: a single one is shorter than any clock can tell. */
const DRAWS = 1_000;
const PER_DRAW = { name: "ns per draw", ns: DRAWS };

interface PureRandom {
  /** The next 32 bits, signed. */
  next(): number;
}

export const rngBench: Bench = {
  title: "random numbers per second",
  async run(context): Promise<BenchReport> {
    const { quick, signal } = context;
    const machine = describeMachine();
    const absent: string[] = [];
    const cases = new Map<string, (iterations: number) => void>(ourLoops(seededRng(7)));
    const peer = await pureRand(context);
    if (typeof peer === "string") absent.push(peer);
    else for (const [key, run] of peerLoops(peer)) cases.set(key, run);
    const rounds = { count: quick ? 5 : 15, lengthMs: quick ? 40 : 150, warmupMs: quick ? 100 : 400, signal };
    const entries = [...cases].map(([key, run]) => ({ key, contender: local(run), task: "draw" }));
    const { timings } = await interleave(entries, rounds);
    return { figures: figuresOf(timings), absent, machine: machine() };
  },
};

function figuresOf(timings: ReadonlyMap<string, Timing>): Figure[] {
  const measured = (key: string, label: string): Measured | undefined => {
    const timing = timings.get(key);
    return timing && { label, timing };
  };
  return ["uniform", "uint32", "normal"].flatMap((key) => {
    const own = measured(key, "base/rng (xoshiro128**)");
    const peer = measured(`pure-rand ${key}`, "pure-rand (xoroshiro128+)");
    const options = { id: `rng.${key}`, what: `one ${key} number`, unit: PER_DRAW };
    if (!own) return [];
    return peer ? [speedup({ ours: own, peer }, options)] : [plainFigure(own, options)];
  });
}

// Each loop is written out: one that takes the draw as an argument would measure a call through a pointer.

function ourLoops(rng: Rng): [string, (iterations: number) => void][] {
  return [
    [
      "uniform",
      (iterations) => {
        let sum = 0;
        for (let i = 0; i < iterations * DRAWS; i++) sum += rng.next();
        used(sum);
      },
    ],
    [
      "uint32",
      (iterations) => {
        let sum = 0;
        for (let i = 0; i < iterations * DRAWS; i++) sum += rng.uint32();
        used(sum);
      },
    ],
    [
      "normal",
      (iterations) => {
        let sum = 0;
        for (let i = 0; i < iterations * DRAWS; i++) sum += rng.normal();
        used(sum);
      },
    ],
  ];
}

function peerLoops(peer: PureRandom): [string, (iterations: number) => void][] {
  return [
    [
      "pure-rand uniform",
      (iterations) => {
        let sum = 0;
        for (let i = 0; i < iterations * DRAWS; i++) {
          // 53 bits from two words, as ours.
          sum += ((peer.next() >>> 5) * 67_108_864 + (peer.next() >>> 6)) / 9_007_199_254_740_992;
        }
        used(sum);
      },
    ],
    [
      "pure-rand uint32",
      (iterations) => {
        let sum = 0;
        for (let i = 0; i < iterations * DRAWS; i++) sum += peer.next();
        used(sum);
      },
    ],
  ];
}

/** So that no compiler may drop the draws. */
function used(sum: number): void {
  if (Number.isNaN(sum)) throw new Error("a random number was not a number");
}

/** A generator of the package, or why it is absent. */
async function pureRand(context: Parameters<Bench["run"]>[0]): Promise<PureRandom | string> {
  const found = await nodePeer("pure-rand", setupOptions(context));
  if ("absent" in found) return found.absent;
  const load = createRequire(join(found.found, "package.json"));
  const { xoroshiro128plus } = load("pure-rand/generator/xoroshiro128plus") as {
    xoroshiro128plus: (seed: number) => PureRandom;
  };
  return xoroshiro128plus(7);
}
