/**
 * The environments that commands can name: the classic ones, those of the product's own tasks, those of users' modules.
 * Owns: which ones the package adds to the registry of `learn/env`, the fleets beside it, and loading them when one is named: they bring the
 * simulator with them, which a training on CartPole has no use for.
 * Not here: the registry (learn/env), users' modules (cli/modules).
 */
import { type EnvConfig, type EnvEntry, envIds, type FleetEnv, registerEnv } from "../../learn/env/index.ts";

interface PackageEnv {
  readonly about: string;
  load(): Promise<EnvEntry>;
}

const packageEnvs: Readonly<Record<string, PackageEnv>> = {
  "AutoscaleFluid-v0": {
    about: "pod autoscaling on the fluid cluster: fast, for training",
    load: async () => (await import("./pods-env.ts")).podsEnv("fluid"),
  },
  "AutoscaleEvent-v0": {
    about: "pod autoscaling on the event-driven cluster: request by request, for evaluation",
    load: async () => (await import("./pods-env.ts")).podsEnv("event"),
  },
  "Mitigation-v0": {
    about: "limits of one service of an application under anomalies",
    load: async () => (await import("./mitigation-env.ts")).mitigationEntry,
  },
  "FunctionsFluid-v0": {
    about: "scaling of a serverless function on the fluid platform: fast, for training",
    load: async () => (await import("./functions-env.ts")).functionsEntry("fluid"),
  },
  "FunctionsEvent-v0": {
    about: "scaling of a serverless function on the event-driven platform: call by call, for evaluation",
    load: async () => (await import("./functions-env.ts")).functionsEntry("event"),
  },
};

/** Of every environment that can be named, loaded or not. */
export function knownEnvs(): readonly { readonly id: string; readonly about: string }[] {
  const ids = new Set([...envIds(), ...Object.keys(packageEnvs)]);
  return [...ids].sort().map((id) => ({ id, about: packageEnvs[id]?.about ?? "" }));
}

/** After this `makeEnv` and all that names environments by their id finds it, or says what it might have been. */
export async function loadEnv(id: string): Promise<void> {
  const missing = Object.keys(packageEnvs).filter((known) => !envIds().includes(known));
  // An unknown id loads them all, so that the registry's "did you mean" knows them too.
  for (const known of missing.includes(id) ? [id] : envIds().includes(id) ? [] : missing) {
    const entry = await packageEnvs[known]?.load();
    // Two sessions may have asked for it at once.
    if (entry !== undefined && !envIds().includes(known)) registerEnv(entry);
  }
}

const fleets = {
  "FunctionsFleetEvent-v0": "many serverless functions on the event-driven platform, an agent each; only for env serve",
  "FunctionsFleetFluid-v0": "many serverless functions on the fluid platform, an agent each; only for env serve",
} as const;

/** Environments of many agents. No learner of `train` plays them, so they are not in the registry. */
export const knownFleets = (): readonly { readonly id: string; readonly about: string }[] =>
  Object.entries(fleets).map(([id, about]) => ({ id, about }));

export const isFleetId = (id: string): id is keyof typeof fleets => Object.hasOwn(fleets, id);

export async function loadFleet(id: keyof typeof fleets, config: EnvConfig): Promise<FleetEnv<Float32Array, number>> {
  return (await import("./fleet-env.ts")).functionsFleetEnv(id, config);
}
