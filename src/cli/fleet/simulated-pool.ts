/**
 * A pool as its settings describe it: a simulated serverless platform, and the fleet's host around it.
 * Owns: putting them together. Not here: the world (sim), the host (control/agents), NATS.
 */
import { type Ms, parseWorkloadId, seconds, seededRng, unwrap, type WorkloadId } from "../../base/index.ts";
import { coordinatorOf, createCoordinator, FleetHost, variants } from "../../control/agents/index.ts";
import { ensureController, ensureUtil } from "../../control/fallbacks/index.ts";
import type { Fallback } from "../../control/index.ts";
import { Fleet, type FunctionSetting, usualBounds } from "../../control/tasks/functions/index.ts";
import type { FunctionReading } from "../../observe/telemetry/index.ts";
import {
  cloudInvokers,
  type FunctionSpec,
  fluidServerlessWorld,
  functionKind,
  functionKinds,
  functionMix,
  functionProfiles,
  localInvokers,
  poissonPattern,
  type ServerlessWorld,
  serverlessWorld,
} from "../../sim/index.ts";
import type { PoolConfig } from "./fleet-schema.ts";

/** A world is made anew with each life of its coordinator. */
export function simulatedPool(
  { variant: name, fallback, everySeconds, patienceSeconds, expirySeconds, platform }: PoolConfig,
  { life, now }: { readonly life: number; readonly now: Ms },
): FleetHost<FunctionSpec, ServerlessWorld> {
  const invokers = (platform.cluster === "local" ? localInvokers : cloudInvokers)(platform.invokers);
  const functions = functionsOf(platform, invokers);
  const makeWorld = platform.rung === "fluid" ? fluidServerlessWorld : serverlessWorld;
  const fleet = new Fleet({
    id: "the pool's platform",
    functions,
    makeWorld: (rng, specs: readonly FunctionSpec[]): ServerlessWorld =>
      makeWorld({ seed: rng.uint32(), invokers, functions: specs, step: seconds(platform.stepSeconds) }),
    controlStep: seconds(platform.stepSeconds),
    episodeSteps: Number.MAX_SAFE_INTEGER,
  });
  fleet.reset({ seed: seededRng(platform.seed).fork(life).uint32() });
  const variant = variants[name];
  const coordinator = createCoordinator(
    coordinatorOf(variant, { groups: functionKinds, expiry: seconds(expirySeconds) }),
  );
  const kinds = new Map<WorkloadId, string>(functions.map(({ id, profile }) => [id, functionKind(profile.name)]));
  return new FleetHost(
    {
      fleet,
      coordinator,
      variant: name,
      contextSize: variant.critic === "own" ? 0 : coordinator.width,
      pool: {
        cores: invokers.reduce((sum, { cores, speed }) => sum + cores * speed, 0),
        memory: invokers.reduce((sum, { memory }) => sum + memory, 0),
      },
      ...(variant.critic === "by-type" ? { groupOf: (workload) => kinds.get(workload) ?? "cpu" } : {}),
      rules: () =>
        ensureController(fallback === "ensure" ? undefined : ensureUtil) as Fallback<
          unknown,
          FunctionReading,
          FunctionSetting
        >,
      pace: seconds(everySeconds),
      patience: seconds(patienceSeconds),
    },
    now,
  );
}

/** "Initially over-provisioned, and later managed" (SIMPPO, 3.1). */
const initial = { shares: 1_024, memory: 512, containers: 10 } as const;
export const poolBounds = usualBounds;

function functionsOf(
  { functions, load }: PoolConfig["platform"],
  invokers: ReturnType<typeof localInvokers>,
): readonly FunctionSpec[] {
  const named =
    typeof functions === "number"
      ? functionMix(functions).map((profile, i) => ({ name: `function-${i + 1}`, profile }))
      : functions.map(({ name, profile }) => ({
          name,
          profile: functionProfiles[profile as keyof typeof functionProfiles],
        }));
  const sizing = { invokers, functions: named.length, load };
  return named.map(({ name, profile }) => ({
    id: unwrap(parseWorkloadId(name)),
    profile,
    pattern: poissonPattern(profile, sizing),
    initial,
  }));
}
