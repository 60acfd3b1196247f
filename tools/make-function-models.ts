/**
 * Makes the policies that agents of functions begin with, one for each kind of function: models/functions.
 * Twelve agents learn side by side on the fluid rung (S-RL, which earns the most: docs/results/simppo.md); of each kind the policy is kept
 * that does best for all functions of its kind, with calls drawn anew each step and with calls that rise and fall. On tuning seeds only. Run by `npm run models:functions`; about three minutes.
 */

import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { loadKernels } from "../src/adapters/runtime/index.ts";
import { type Rng, seconds } from "../src/base/index.ts";
import { FleetTraining, variants } from "../src/control/agents/index.ts";
import { Fleet } from "../src/control/tasks/functions/index.ts";
import {
  type FunctionSpec,
  fluidServerlessWorld,
  functionKind,
  functionKinds,
  localInvokers,
  serverlessWorld,
} from "../src/sim/index.ts";
import { ensure, type RulesOf } from "../src/studies/simppo/rules.ts";
import { Scene, usualScene } from "../src/studies/simppo/scene.ts";

const SEED = 1_001;
const CHECK_SEED = 1_002;
const EPISODES = Number(process.argv[2] ?? 100);
const CHECK_EPISODES = 1;
/** Six times the paper's: a policy that acts for days must know what comes of fifty steps of its own. */
const STEPS = 300;

const kernels = loadKernels();
const scene = new Scene({ ...usualScene, reward: "strict" });
const { functions } = scene;
const kindOf = ({ profile }: FunctionSpec) => functionKind(profile.name);

/** Rates drawn anew each step, as the paper's, or rising and falling over an hour, as users' do. */
type Calls = "drawn" | "hourly";
const HOUR = 360;

function calledBy(calls: Calls, spec: FunctionSpec): FunctionSpec {
  if (calls === "drawn" || spec.pattern.kind !== "poisson") return spec;
  const { most } = spec.pattern;
  return { ...spec, pattern: { kind: "fluctuating", low: 0.25 * most, high: 0.75 * most, period: HOUR } };
}

/** Wherever somebody else left it: policies take over from rules, and after people. */
const anySetting = (rng: Rng) => ({
  shares: 128 * (1 + rng.int(16)),
  memory: 32 * (2 + rng.int(31)),
  containers: 1 + rng.int(30),
});

/** Each episode has one of the two, by chance; the same where it is named. */
function fleetOn(rung: "fluid" | "event", seed: number, only?: Calls) {
  const makeWorld = rung === "fluid" ? fluidServerlessWorld : serverlessWorld;
  const fleet = new Fleet({
    id: "functions to learn from",
    functions,
    makeWorld: (rng, specs) => {
      const calls = only ?? (rng.fork("calls").next() < 0.5 ? "drawn" : "hourly");
      return makeWorld({
        seed: rng.uint32(),
        invokers: localInvokers(),
        functions: specs.map((spec) => ({ ...calledBy(calls, spec), initial: anySetting(rng.fork(spec.id)) })),
        step: seconds(usualScene.step),
      });
    },
    controlStep: seconds(usualScene.step),
    episodeSteps: STEPS,
    reward: "strict",
  });
  return {
    by: (rules?: RulesOf) =>
      new FleetTraining({
        fleet,
        variant: variants["s-rl"],
        kernels,
        seed,
        pool: scene.pool,
        bounds: scene.bounds,
        ...(rules ? { rules } : {}),
      }),
  };
}

const learning = fleetOn("fluid", SEED).by();
for (let i = 0; i < EPISODES; i++) {
  const { reward } = learning.episode({ learning: true });
  if ((i + 1) % 5 === 0) process.stderr.write(`episode ${i + 1} of ${EPISODES}: ${reward.toFixed(1)}\n`);
}
const policies = new Map(functions.map(({ id }) => [id, learning.learner(id)?.save() as Uint8Array]));

interface Outcome {
  reward: number;
  missed: number;
}

/** Of each function, where each has the policy that it is given, or all are under rules. */
function served(
  who: ((spec: FunctionSpec) => Uint8Array) | RulesOf,
  on: { rung: "fluid" | "event"; calls: Calls; rules?: boolean },
) {
  const fleet = fleetOn(on.rung, CHECK_SEED, on.calls).by(on.rules ? (who as RulesOf) : undefined);
  if (!on.rules) for (const spec of functions) fleet.adopt(spec.id, (who as (spec: FunctionSpec) => Uint8Array)(spec));
  const outcomes = new Map<string, Outcome>();
  for (let i = 0; i < CHECK_EPISODES; i++)
    for (const { workload, reward, missed } of fleet.episode({ learning: false, explore: true }).agents) {
      const sums = outcomes.get(workload) ?? { reward: 0, missed: 0 };
      sums.reward += reward / CHECK_EPISODES;
      sums.missed += missed / CHECK_EPISODES;
      outcomes.set(workload, sums);
    }
  fleet.dispose();
  return outcomes;
}

const own = (spec: FunctionSpec) => policies.get(spec.id) as Uint8Array;
const best = new Map<string, { policy: Uint8Array; from: string; reward: number }>();
for (const candidate of functions) {
  const kind = kindOf(candidate);
  const alike = functions.filter((spec) => kindOf(spec) === kind);
  const policyOf = (spec: FunctionSpec) => (kindOf(spec) === kind ? own(candidate) : own(spec));
  let reward = 0;
  for (const calls of ["drawn", "hourly"] as const) {
    const outcomes = served(policyOf, { rung: "fluid", calls });
    for (const { id } of alike) reward += (outcomes.get(id)?.reward ?? 0) / alike.length / 2;
  }
  if (reward > (best.get(kind)?.reward ?? Number.NEGATIVE_INFINITY))
    best.set(kind, { policy: own(candidate), from: candidate.profile.name, reward });
}

function mean(outcomes: ReadonlyMap<string, Outcome>): Outcome {
  const all = [...outcomes.values()];
  const of = (what: keyof Outcome) => Number((all.reduce((sum, one) => sum + one[what], 0) / all.length).toFixed(4));
  return { reward: of("reward"), missed: of("missed") };
}
const ofKind = (spec: FunctionSpec) => best.get(kindOf(spec))?.policy as Uint8Array;
const checked = (calls: Calls) => ({
  ofItsKind: mean(served(ofKind, { rung: "event", calls })),
  ofItsOwn: mean(served(own, { rung: "event", calls })),
  ensure: mean(served(ensure, { rung: "event", calls, rules: true })),
});

const folder = pathToFileURL(`${process.cwd()}/models/functions/`);
mkdirSync(folder, { recursive: true });
for (const kind of functionKinds) writeFileSync(new URL(`${kind}.ckpt`, folder), best.get(kind)?.policy as Uint8Array);
const report = {
  about: "Policies of PPO agents, one for each kind of function; made by tools/make-function-models.ts",
  learnedOn: {
    rung: "fluid",
    seed: SEED,
    episodes: EPISODES,
    variant: "s-rl",
    reward: "strict",
    calls: "drawn or hourly",
  },
  checkedOn: { rung: "event", seed: CHECK_SEED, episodes: CHECK_EPISODES },
  /** Reward of an episode of 300 steps, and share of steps that miss the SLO. */
  outcomes: { drawn: checked("drawn"), hourly: checked("hourly") },
  kinds: Object.fromEntries(
    functionKinds.map((kind) => {
      const { policy, from } = best.get(kind) as { readonly policy: Uint8Array; readonly from: string };
      return [kind, { from, bytes: policy.length, sha256: createHash("sha256").update(policy).digest("hex") }];
    }),
  ),
};
writeFileSync(new URL("report.json", folder), `${JSON.stringify(report, null, 2)}\n`);
process.stdout.write(`${JSON.stringify(report.outcomes)}\n`);
