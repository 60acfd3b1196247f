/**
 * What the capacity model comes to believe of applications that may be learned on: a belief to begin others with.
 * Owns: playing them around the model's own plan, and the model that is made of what it believed. Not here: how a belief is made
 * of it (control/tasks/pods/capacity/prior.ts), whether it is of any use (studies/aware-embedding.ts: it is not yet, so nobody
 * begins with one unless told to).
 */
import { freshGuardState, guard } from "../act/index.ts";
import { milliseconds, minutes } from "../base/index.ts";
import type { KnownWorkload, PriorModel } from "../control/tasks/pods/index.ts";
import { capacityPlanner, firstSightOf, looksOf } from "../control/tasks/pods/index.ts";
import { drawMember } from "./pool-members.ts";
import { bounds, guardLimits, openWorld } from "./scene.ts";

export interface KnownKnees {
  readonly seed: number;
  readonly applications: number;
  /** Control steps that each is played for. */
  readonly steps: number;
}

const STEP = 15_000;
const HOURS = 168;
/** Steps between the hours that neighbours begin in: no whole part of a day or a week. */
const APART = 37;
/** Before pods run there is nothing to see. */
const SETTLE = minutes(5);

/** `width` as in the model. Applications of which nothing was measured in time are left out. */
export function knownKnees(options: KnownKnees, width: number | null): PriorModel {
  const known = Array.from({ length: options.applications }, (_, index) => playKnown(options, index)).filter(
    (one) => one !== undefined,
  );
  const looks = known[0]?.looks ?? [];
  return { spread: looks.map((_, k) => deviation(known.map((one) => one.looks[k] as number))), width, known };
}

function playKnown({ seed, steps }: KnownKnees, index: number): KnownWorkload | undefined {
  const { scene } = drawMember({ seed, part: "known", index });
  const { workload, slo } = scene;
  const start = milliseconds(3_600_000 * ((index * APART) % HOURS));
  const world = openWorld(scene, { seed: seed + index, rung: "fluid", start });
  world.advance(milliseconds(world.now + SETTLE));
  const planner = capacityPlanner({ slo, bounds });
  let memory = planner.fresh;
  let state = freshGuardState;
  let looks: readonly number[] | undefined;
  for (let step = 0; step < steps; step++) {
    const { now } = world;
    const next = planner.step(memory, world.read(workload), now);
    memory = next.memory;
    if (next.plan !== null) {
      const seen = looks === undefined ? firstSightOf(memory) : undefined;
      if (seen) looks = looksOf(seen);
      const verdict = guard(
        { workload, want: next.plan.setting, measuredAt: now },
        { limits: guardLimits, state, have: world.allocation(workload), nodes: world.nodes(workload), now },
      );
      state = verdict.state;
      world.apply(verdict.action);
    }
    world.advance(milliseconds(now + STEP));
  }
  return looks && { name: `known-${seed}-${index}`, looks, knees: planner.knees(memory) };
}

function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}
