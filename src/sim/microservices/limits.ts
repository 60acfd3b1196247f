/**
 * The five limits of a container: what it starts with, and between what a controller may set them.
 * Owns: defaults from the load that an application is made for. Not here: enforcing them.
 */
import type { Limits } from "../../base/index.ts";
import { CPU, defaultLimits, IO, LLC, MEMORY, NETWORK, type Profile, RESOURCE_COUNT } from "./calibration.ts";
import { type Program, workPerRequest } from "./program.ts";

/** By service: limits of one replica when so many of them share this many requests per second. */
export function limitsFor(program: Program, perSecond: number, replicas: ArrayLike<number>): readonly Float64Array[] {
  const work = workPerRequest(program);
  return program.profiles.map((profile, i) => {
    const replicaCount = replicas[i]!;
    // Requests at work at once in one replica, if nothing is short.
    const atWork = (perSecond * work[i]!) / 1_000 / replicaCount;
    return limitsOf(profile, atWork);
  });
}

function limitsOf(profile: Profile, atWork: number): Float64Array {
  const { headroom, leastCores, leastAtOnce } = defaultLimits;
  const limits = new Float64Array(RESOURCE_COUNT);
  const rated = ({ share, rate }: Profile["io"]): number =>
    Math.ceil(Math.max(leastAtOnce * Math.max(rate, LEAST_RATE), headroom * atWork * share * rate));
  limits[CPU] = Math.max(leastCores, Math.ceil(headroom * atWork * profile.cpu * 10) / 10);
  limits[MEMORY] = rated(profile.memory);
  limits[LLC] = Math.max(1, profile.workingSet);
  limits[IO] = rated(profile.io);
  limits[NETWORK] = rated(profile.network);
  return limits;
}

/** A container that needs no disk still has one to write its log to: MB/s. */
const LEAST_RATE = 5;

/** Between these a controller may set the limits of a container (FIRM's lower and upper limits). */
export function boundsOf(defaults: ArrayLike<number>): { readonly lower: Float64Array; readonly upper: Float64Array } {
  const { lower, upper } = defaultLimits;
  return { lower: times(defaults, lower), upper: times(defaults, upper) };
}

/** Not by `from` with a function: every reading of every container comes here, and that takes ten times as long. */
function times(amounts: ArrayLike<number>, factor: number): Float64Array {
  const scaled = new Float64Array(amounts.length);
  for (let i = 0; i < scaled.length; i++) scaled[i] = amounts[i]! * factor;
  return scaled;
}

export const asLimits = (amounts: ArrayLike<number>): Limits => ({
  cpu: amounts[CPU]!,
  memory: amounts[MEMORY]!,
  llc: amounts[LLC]!,
  io: amounts[IO]!,
  network: amounts[NETWORK]!,
});
