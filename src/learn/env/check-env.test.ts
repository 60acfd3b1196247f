import { describe, expect, test } from "vitest";
import { CodedError, failure, type Rng, seededRng } from "../../base/index.ts";
import { checkEnv } from "./check-env.ts";
import type { Env, Reset, ResetRequest, Step } from "./contract.ts";
import { envIds, makeEnv } from "./registry.ts";
import { box, discrete } from "./space.ts";
import { wrap } from "./wrapper.ts";
import { recordEpisodes } from "./wrappers/record-episodes.ts";

/**
 * A walk along a line, written by hand as a user would: two observed numbers, start by chance, goal at ±1, 50 steps.
 * Each test below breaks one thing in it.
 */
class Walk implements Env<Float32Array, number> {
  readonly spec: Env<Float32Array, number>["spec"] = { id: "Walk-v0", maxSteps: 50 };
  readonly observationSpace = box({ low: [-2, 0], high: [2, 1] });
  readonly actionSpace = discrete(2);
  protected rng: Rng = seededRng(0);
  protected at = 0;
  protected taken = 0;
  protected running = false;

  reset({ seed, options = {} }: ResetRequest = {}): Reset<Float32Array> {
    const [unknown] = Object.keys(options);
    if (unknown !== undefined) throw new CodedError(failure("env.options", `no option '${unknown}'`));
    if (seed !== undefined) this.rng = seededRng(seed);
    this.at = this.rng.next() - 0.5;
    this.taken = 0;
    this.running = true;
    return { obs: this.observe(), info: {} };
  }

  step(action: number): Step<Float32Array> {
    if (!this.running) throw new CodedError(failure("env.needs-reset", "call reset() first"));
    this.actionSpace.write(action, new Float64Array(1));
    this.at += action === 1 ? 0.1 : -0.1;
    this.taken += 1;
    const end = Math.abs(this.at) > 1 ? "terminated" : this.taken >= 50 ? "truncated" : "no";
    this.running = end === "no";
    return { obs: this.observe(), reward: -Math.abs(this.at), end };
  }

  close(): void {}

  protected observe(): Float32Array {
    return Float32Array.of(this.at, this.taken / 50);
  }
}

const rulesOf = (make: () => Env<unknown, unknown>): string[] => checkEnv(make).map(({ rule }) => rule);

test.each(envIds())("finds nothing wrong with %s", (id) => {
  expect(checkEnv(() => makeEnv(id))).toEqual([]);
});

test("finds nothing wrong with a careful environment of one's own, wrapped or not", () => {
  expect(checkEnv(() => new Walk())).toEqual([]);
  expect(checkEnv(new Walk())).toEqual([]);
  expect(checkEnv(() => wrap(new Walk(), [recordEpisodes()]))).toEqual([]);
});

describe("detects", () => {
  test("an id without a version", () => {
    class Broken extends Walk {
      override readonly spec = { id: "Walk", maxSteps: 50 };
    }
    expect(rulesOf(() => new Broken())).toEqual(["spec-id"]);
  });

  test("a time limit that is no number of steps", () => {
    class Broken extends Walk {
      override readonly spec = { id: "Walk-v0", maxSteps: 0.5 };
    }
    expect(rulesOf(() => new Broken())).toContain("spec-max-steps");
  });

  test("a missing space", () => {
    class Broken extends Walk {
      override readonly observationSpace = undefined as unknown as Walk["observationSpace"];
    }
    expect(rulesOf(() => new Broken())).toEqual(["observation-space"]);
  });

  test("a space that does not contain its own samples", () => {
    class Broken extends Walk {
      override readonly actionSpace = { ...discrete(2), sample: () => 2 };
    }
    expect(rulesOf(() => new Broken())).toEqual(["action-space"]);
  });

  test("an observation out of bounds, and says which space was declared", () => {
    class Broken extends Walk {
      protected override observe(): Float32Array {
        return Float32Array.of(this.at, this.taken);
      }
    }
    const problems = checkEnv(() => new Broken());
    expect(problems.map(({ rule }) => rule)).toEqual(["observation-in-space"]);
    expect(problems[0]?.message).toMatch(
      /expected a Float32Array of 2 numbers within \[-2, 0\] to \[2, 1\], found Float32Array\(2\)/,
    );
  });

  test("an observation of another type", () => {
    class Broken extends Walk {
      protected override observe(): Float32Array {
        return [this.at, this.taken / 50] as unknown as Float32Array;
      }
    }
    expect(rulesOf(() => new Broken())).toEqual(["observation-in-space"]);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])("%d in an observation, even in an unbounded space", (value) => {
    class Broken extends Walk {
      override readonly observationSpace = box({ low: -Infinity, high: Infinity, size: 2 });
      protected override observe(): Float32Array {
        return Float32Array.of(this.taken === 7 ? value : 0, 0);
      }
    }
    expect(rulesOf(() => new Broken())).toContain("observation-finite");
  });

  test("a reward that is not a number", () => {
    class Broken extends Walk {
      override step(action: number): Step<Float32Array> {
        return { ...super.step(action), reward: Number.NaN };
      }
    }
    expect(rulesOf(() => new Broken())).toEqual(["reward-finite"]);
  });

  test("an end that is a boolean, as in older libraries", () => {
    class Broken extends Walk {
      override step(action: number): Step<Float32Array> {
        const step = super.step(action);
        return { ...step, end: (step.end !== "no") as unknown as "no" };
      }
    }
    const problems = checkEnv(() => new Broken());
    expect(problems.map(({ rule }) => rule)).toContain("end-kind");
    expect(problems.find(({ rule }) => rule === "end-kind")?.message).toContain("step().end is false");
  });

  test("a step that returns only the observation", () => {
    class Broken extends Walk {
      override step(action: number): Step<Float32Array> {
        return super.step(action).obs as unknown as Step<Float32Array>;
      }
    }
    expect(rulesOf(() => new Broken())).toContain("step-shape");
  });

  test("a reset that returns the bare observation", () => {
    class Broken extends Walk {
      override reset(request?: ResetRequest): Reset<Float32Array> {
        return super.reset(request).obs as unknown as Reset<Float32Array>;
      }
    }
    expect(rulesOf(() => new Broken())).toContain("reset-shape");
  });

  test("a reset that fails", () => {
    class Broken extends Walk {
      override reset(): Reset<Float32Array> {
        throw new Error("no world today");
      }
    }
    expect(checkEnv(new Broken())).toEqual([
      { rule: "reset-fails", message: 'reset({"seed":12345}) failed: no world today' },
    ]);
  });

  test("a step that fails on a valid action", () => {
    class Broken extends Walk {
      override step(action: number): Step<Float32Array> {
        if (action === 1 && this.running) throw new Error("engine stalled");
        return super.step(action);
      }
    }
    const problems = checkEnv(() => new Broken());
    expect(problems.find(({ rule }) => rule === "step-fails")?.message).toMatch(
      /step\(1\) failed on a valid action: engine stalled/,
    );
  });

  test("one observation array used again and again", () => {
    const shared = new Float32Array(2);
    class Broken extends Walk {
      protected override observe(): Float32Array {
        shared.set(super.observe());
        return shared;
      }
    }
    expect(rulesOf(() => new Broken())).toEqual(["observation-kept"]);
  });

  test("an action changed in place", () => {
    class Broken implements Env<Float32Array, Float32Array> {
      readonly inner = makeEnv("Pendulum-v1");
      readonly spec = this.inner.spec;
      readonly observationSpace = this.inner.observationSpace;
      readonly actionSpace = this.inner.actionSpace;
      reset = this.inner.reset;
      close = this.inner.close;
      step(action: Float32Array): Step<Float32Array> {
        const step = this.inner.step(action);
        action[0] = 0;
        return step;
      }
    }
    expect(rulesOf(() => new Broken())).toEqual(["action-kept"]);
  });

  test("chance that the seed does not govern", () => {
    const hidden = seededRng(99);
    class Broken extends Walk {
      override reset(request?: ResetRequest): Reset<Float32Array> {
        super.reset(request);
        this.at = hidden.next() - 0.5;
        return { obs: this.observe(), info: {} };
      }
    }
    expect(rulesOf(() => new Broken())).toContain("seed-repeats");
  });

  test("state that survives a reset", () => {
    class Broken extends Walk {
      override reset(request?: ResetRequest): Reset<Float32Array> {
        const before = this.taken;
        super.reset(request);
        this.taken = Math.min(before, 10);
        return { obs: this.observe(), info: {} };
      }
    }
    expect(rulesOf(() => new Broken())).toContain("seed-repeats");
  });

  test("a reset without seed that deals the same episode again", () => {
    class Broken extends Walk {
      #seed = 0;
      override reset(request: ResetRequest = {}): Reset<Float32Array> {
        this.#seed = request.seed ?? this.#seed;
        return super.reset({ ...request, seed: this.#seed });
      }
    }
    expect(rulesOf(() => new Broken())).toEqual(["unseeded-reset-goes-on"]);
  });

  test("copies that share state through a module variable", () => {
    let shared = 0;
    class Broken extends Walk {
      override reset(request?: ResetRequest): Reset<Float32Array> {
        shared = 0;
        return super.reset(request);
      }
      override step(action: number): Step<Float32Array> {
        const step = super.step(action);
        shared += 0.001;
        return { ...step, reward: shared };
      }
    }
    expect(rulesOf(() => new Broken())).toEqual(["copies-independent"]);
  });

  test("an episode longer than the limit it declares", () => {
    class Broken extends Walk {
      override readonly spec = { id: "Walk-v0", maxSteps: 20 };
    }
    expect(rulesOf(() => new Broken())).toEqual(["time-limit"]);
  });

  test("a step taken before the first reset", () => {
    class Broken extends Walk {
      protected override running = true;
    }
    expect(rulesOf(() => new Broken())).toEqual(["step-before-reset"]);
  });

  test("a step taken after the end", () => {
    class Broken extends Walk {
      override step(action: number): Step<Float32Array> {
        const step = super.step(action);
        this.running = true;
        this.at = Math.max(-1.5, Math.min(1.5, this.at));
        return step;
      }
    }
    expect(rulesOf(() => new Broken())).toContain("step-after-end");
  });

  test("a wrong action taken as if it were right", () => {
    class Broken extends Walk {
      override step(action: number): Step<Float32Array> {
        return super.step(action === 1 ? 1 : 0);
      }
    }
    expect(rulesOf(() => new Broken())).toEqual(["wrong-action"]);
  });

  test("a misspelt option that is ignored", () => {
    class Broken extends Walk {
      override reset({ seed }: ResetRequest = {}): Reset<Float32Array> {
        return super.reset(seed === undefined ? {} : { seed });
      }
    }
    expect(rulesOf(() => new Broken())).toEqual(["unknown-option"]);
  });

  test("a second close that fails", () => {
    class Broken extends Walk {
      #open = true;
      override close(): void {
        if (!this.#open) throw new Error("already closed");
        this.#open = false;
      }
    }
    expect(rulesOf(() => new Broken())).toEqual(["close-twice"]);
  });
});
