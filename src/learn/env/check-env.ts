/**
 * The environment checker: what a learner will rely on, tried out before it does.
 * Owns: the rules and the sentences that explain a broken one. Run it on your own environment before training on it.
 * Not here: whether the task makes sense; a checked environment can still be impossible.
 *
 * ```ts
 * for (const problem of checkEnv(() => new MyWorld())) console.error(`${problem.rule}: ${problem.message}`);
 * ```
 */

import { failureOf, type Rng, seededRng } from "../../base/index.ts";
import { checkObservation, checkSpace, checkStep, numbersOf, wrongAction } from "./check-values.ts";
import type { Env } from "./contract.ts";

export interface Problem {
  /** Stable name of the rule, for machines. */
  readonly rule: string;
  /** What was found, and what to change. */
  readonly message: string;
}

export interface CheckOptions {
  /** How many steps to try per roll-out. */
  readonly steps?: number;
  readonly seed?: number;
}

type Report = (rule: string, message: string) => void;
type AnyEnv = Env<unknown, unknown>;

/**
 * Tries an environment and lists what is wrong with it; an empty list means nothing was found.
 * Give it a function that makes the environment: then copies are compared with each other, the order of calls is
 * checked on new ones, and yours is not used up. With a ready environment those rules are left out.
 */
export function checkEnv(
  subject: AnyEnv | (() => AnyEnv),
  { steps = 1000, seed = 12345 }: CheckOptions = {},
): readonly Problem[] {
  const problems = new Map<string, Problem>();
  // The first finding of a rule says enough; a broken reward would otherwise be reported a thousand times.
  const report: Report = (rule, message) => {
    if (!problems.has(rule)) problems.set(rule, { rule, message });
  };
  const make = typeof subject === "function" ? subject : undefined;
  const env = typeof subject === "function" ? subject() : subject;

  checkSpec(env, report);
  checkSpace("observation", env.observationSpace, report);
  checkSpace("action", env.actionSpace, report);
  // Without sound spaces there is no action to try.
  if (problems.has("action-space") || problems.has("observation-space")) return [...problems.values()];

  if (make !== undefined) checkBeforeReset(make(), report);
  const first = rollOut(env, { seed, steps, report });
  checkSeeding(env, { seed, steps, first, report });
  checkEnds(env, { seed, steps, report });
  checkRefusals(env, { seed, report });
  if (make !== undefined) {
    checkCopies(make, { seed, steps, first, report });
    checkClose(make(), { seed, report });
  }
  return [...problems.values()];
}

function checkSpec(env: AnyEnv, report: Report): void {
  const { id, maxSteps } = env.spec ?? {};
  if (typeof id !== "string" || !/-v\d+$/.test(id)) {
    report("spec-id", `spec.id is '${id}'; end it in a version, as in 'MyWorld-v0', so that results stay comparable`);
  }
  if (maxSteps !== undefined && !(Number.isInteger(maxSteps) && maxSteps >= 1)) {
    report("spec-max-steps", `spec.maxSteps is ${maxSteps}; use a whole number from 1, or leave it out for no limit`);
  }
}

interface RollOut {
  readonly seed: number;
  readonly steps: number;
  readonly report: Report;
}

/**
 * Steps with random actions over as many episodes as fit, checking every value. Returns all observations and rewards as
 * plain numbers; equally seeded roll-outs must give equal lists.
 */
function rollOut(env: AnyEnv, { seed, steps, report }: RollOut): number[] {
  const trace: number[] = [];
  // The actions have their own stream, so that the environment's use of chance cannot shift them.
  const actions: Rng = seededRng(77).fork("actions");
  const kept: { obs: unknown; numbers: readonly number[] }[] = [];
  const keep = (obs: unknown): boolean => {
    if (!checkObservation(env, obs, report)) return false;
    const numbers = numbersOf(env.observationSpace, obs);
    trace.push(...numbers);
    kept.push({ obs, numbers });
    if (kept.length > 20) kept.shift();
    return true;
  };

  let length = 0;
  const start = reset(env, { seed }, report);
  if (start === undefined || !keep(start.obs)) return trace;
  for (let t = 0; t < steps; t++) {
    const action = env.actionSpace.sample(actions);
    const before = numbersOf(env.actionSpace, action);
    const step = attempt(() => env.step(action));
    if (!step.ok) {
      report("step-fails", `step(${before.join(", ")}) failed on a valid action: ${textOf(step.thrown)}`);
      return trace;
    }
    if (!sameNumbers(before, numbersOf(env.actionSpace, action))) {
      report("action-kept", "step changed the action it was given; copy it before changing it, the learner stores it");
    }
    if (!checkStep(step.value, report) || !keep(step.value.obs)) return trace;
    trace.push(step.value.reward);
    length += 1;
    checkLength(env, { length, end: step.value.end, report });
    if (step.value.end === "no") continue;
    length = 0;
    const next = reset(env, {}, report);
    if (next === undefined || !keep(next.obs)) return trace;
  }
  const changed = kept.some(({ obs, numbers }) => !sameNumbers(numbers, numbersOf(env.observationSpace, obs)));
  if (changed) {
    report(
      "observation-kept",
      "an observation changed after it was handed out; return a fresh array from every reset and step, learners store them",
    );
  }
  return trace;
}

function checkLength(env: AnyEnv, { length, end, report }: { length: number; end: string; report: Report }): void {
  const { maxSteps } = env.spec ?? {};
  if (maxSteps === undefined || length < maxSteps || end !== "no") return;
  report(
    "time-limit",
    `an episode went on after ${length} steps although spec.maxSteps is ${maxSteps}; end it with "truncated" at that step`,
  );
}

interface Compared {
  readonly seed: number;
  readonly steps: number;
  readonly first: readonly number[];
  readonly report: Report;
}

function checkSeeding(env: AnyEnv, { seed, steps, first, report }: Compared): void {
  const silent: Report = () => {};
  if (!sameNumbers(first, rollOut(env, { seed, steps, report: silent }))) {
    report(
      "seed-repeats",
      `two roll-outs with the same actions after reset({ seed: ${seed} }) differ; draw all chance from a stream that the seed starts anew, and reset everything else too`,
    );
    return;
  }
  // Only an environment with chance in it can be caught dealing the same cards every time.
  const other = rollOut(env, { seed: seed + 1, steps, report: silent });
  if (sameNumbers(first, other)) return;
  const begin = (request: { seed?: number }): readonly number[] =>
    numbersOf(env.observationSpace, reset(env, request, silent)?.obs);
  const seeded = begin({ seed });
  const seededOther = begin({ seed: seed + 1 });
  if (sameNumbers(seeded, seededOther)) return;
  const again = [begin({ seed }), begin({}), begin({})];
  if (again.slice(1).every((obs) => sameNumbers(obs, seeded))) {
    report(
      "unseeded-reset-goes-on",
      "reset() without a seed repeats the seeded episode; only a seed may start the random stream anew, else the learner sees one episode for ever",
    );
  }
}

/** Two copies stepped in turns must not feel each other: module variables and shared arrays show up here. */
function checkCopies(make: () => AnyEnv, { seed, steps, first, report }: Compared): void {
  const [one, two] = [make(), make()];
  const silent: Report = () => {};
  const rng = seededRng(1);
  reset(two, { seed: seed + 1 }, silent);
  const disturbed: AnyEnv = {
    spec: one.spec,
    observationSpace: one.observationSpace,
    actionSpace: one.actionSpace,
    reset: (request) => one.reset(request),
    close: () => one.close(),
    step: (action) => {
      const other = attempt(() => two.step(two.actionSpace.sample(rng)));
      if (!other.ok || other.value.end !== "no") reset(two, {}, silent);
      return one.step(action);
    },
  };
  if (!sameNumbers(first, rollOut(disturbed, { seed, steps, report: silent }))) {
    report(
      "copies-independent",
      "an equally seeded copy rolls out differently while another copy is stepped; keep all state in the instance, none in module variables",
    );
  }
}

function checkBeforeReset(env: AnyEnv, report: Report): void {
  const early = attempt(() => env.step(env.actionSpace.sample(seededRng(0))));
  if (early.ok || failureOf(early.thrown)?.code !== "env.needs-reset") {
    report(
      "step-before-reset",
      `step() before the first reset() ${early.ok ? "returned a step" : `failed with "${textOf(early.thrown)}"`}; fail with the code env.needs-reset`,
    );
  }
}

interface Tried {
  readonly seed: number;
  readonly report: Report;
}

/** Looks for the end of one episode and steps past it. */
function checkEnds(env: AnyEnv, { seed, steps, report }: RollOut): void {
  const rng = seededRng(seed);
  if (reset(env, { seed }, () => {}) === undefined) return;
  const patience = Math.max(steps, env.spec?.maxSteps ?? 0);
  for (let t = 0; t < patience; t++) {
    const step = attempt(() => env.step(env.actionSpace.sample(rng)));
    // Either is reported where every value is checked.
    if (!step.ok || typeof step.value !== "object" || step.value === null) return;
    if (step.value.end === "no") continue;
    const after = attempt(() => env.step(env.actionSpace.sample(rng)));
    if (after.ok || failureOf(after.thrown)?.code !== "env.needs-reset") {
      report(
        "step-after-end",
        `step() after "${step.value.end}" ${after.ok ? "returned another step" : `failed with "${textOf(after.thrown)}"`}; fail with the code env.needs-reset until reset() is called`,
      );
    }
    return;
  }
}

/** What must be refused: a wrong action and an unknown option. Silence there hides mistakes of the caller. */
function checkRefusals(env: AnyEnv, { seed, report }: Tried): void {
  if (reset(env, { seed }, () => {}) === undefined) return;
  const wrong = wrongAction(env.actionSpace);
  const step = attempt(() => env.step(wrong.value));
  if (step.ok || failureOf(step.thrown)?.code !== "space.mismatch") {
    report(
      "wrong-action",
      `step() ${step.ok ? "accepted" : "failed without the code space.mismatch on"} ${wrong.what}; let actionSpace.write(action, …) check it, which fails with that code`,
    );
  }
  const options = attempt(() => env.reset({ seed, options: { "no-such-option": 1 } }));
  if (options.ok) {
    report(
      "unknown-option",
      "reset({ options }) ignored an option that does not exist; fail with the code env.options, so that a misspelt option is found",
    );
  }
}

function checkClose(env: AnyEnv, { seed, report }: Tried): void {
  reset(env, { seed }, () => {});
  const closed = attempt(() => {
    env.close();
    env.close();
  });
  if (!closed.ok)
    report("close-twice", `a second close() failed: ${textOf(closed.thrown)}; make closing twice harmless`);
}

function reset(env: AnyEnv, request: { seed?: number }, report: Report) {
  const result = attempt(() => env.reset(request));
  if (!result.ok) {
    report("reset-fails", `reset(${JSON.stringify(request)}) failed: ${textOf(result.thrown)}`);
    return undefined;
  }
  const { value } = result;
  const shaped = typeof value === "object" && value !== null && "obs" in value;
  if (!shaped || typeof value.info !== "object" || value.info === null) {
    report("reset-shape", "reset() must return { obs, info }, with info an object that may be empty");
  }
  return shaped ? value : undefined;
}

type Attempt<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly thrown: unknown };

function attempt<T>(call: () => T): Attempt<T> {
  try {
    return { ok: true, value: call() };
  } catch (thrown) {
    return { ok: false, thrown };
  }
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function sameNumbers(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((x, i) => Object.is(x, b[i]));
}
