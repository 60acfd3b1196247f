/**
 * A simulated serverless platform and its twin as a plane's world: the same functions, invokers and calls, under different controllers.
 * Owns: the ports through which a plane meets them, which functions are there when, and what is told of the invokers.
 * Not here: simulating (sim/serverless), the agents' parts (functions-targets.ts), turns (plane).
 *
 * A function that is away has no reading: its agent waits, its rules too, and it goes on with what it knows when it is back.
 */
import type { Failure, Ms, WorkloadId } from "../../../base/index.ts";
import {
  err,
  failure,
  ManualClock,
  mebibytes,
  milliseconds,
  minutes,
  ok,
  parseWorkloadId,
  seconds,
  unwrap,
} from "../../../base/index.ts";
import { AWAY } from "../../../control/loop/index.ts";
import type { FunctionSetting } from "../../../control/tasks/functions/index.ts";
import type { HostLook, World, WorldEvent, WorldSide } from "../../../plane/index.ts";
import type { FunctionKind, FunctionSpec, ServerlessWorld } from "../../../sim/index.ts";
import {
  functionKind,
  functionNames,
  functionProfiles,
  isolatedSlo,
  localInvokers,
  poissonPattern,
  serverlessActuator,
  serverlessWorld,
} from "../../../sim/index.ts";

export const FUNCTIONS_STEP: Ms = seconds(10);
const INVOKERS = localInvokers(4);
const INITIAL: FunctionSetting = { shares: 512, memory: 256, containers: 4 };

/** Containers at work on average, as a part of all cores; rates are drawn anew each step, as in the paper and the studies. */
const LOAD = 0.5;

/** Those that come and go are away for the last third of every hour of theirs. */
const CHURN_EVERY = minutes(60);
const AWAY_FROM = 2 / 3;

export interface DemoFunction {
  readonly id: WorkloadId;
  readonly title: string;
  readonly kind: FunctionKind;
  /** Of its 99th percentile: alone and 15 % more. */
  readonly slo: Ms;
  readonly initial: FunctionSetting;
  spec(have: FunctionSetting): FunctionSpec;
  isThere(now: number): boolean;
}

/** The twelve of SIMPPO's Table 3. Every third comes and goes, each at a time of its own. */
export function demoFunctions(): readonly DemoFunction[] {
  return functionNames.map((name, slot) => {
    const profile = functionProfiles[name];
    const id = unwrap(parseWorkloadId(name));
    const pattern = poissonPattern(profile, { invokers: INVOKERS, functions: functionNames.length, load: LOAD });
    return {
      id,
      title: profile.name,
      kind: functionKind(profile.name),
      slo: isolatedSlo(profile),
      initial: INITIAL,
      spec: (initial) => ({ id, profile, pattern, initial }),
      isThere: (now) => slot % 3 !== 1 || (((now / CHURN_EVERY + slot / functionNames.length) % 1) + 1) % 1 < AWAY_FROM,
    };
  });
}

export interface PlacedFunction {
  readonly demo: DemoFunction;
  readonly have: FunctionSetting;
  readonly twinHave: FunctionSetting;
}

export function openFunctionsWorld(
  placed: readonly PlacedFunction[],
  { seed, start }: { readonly seed: number; readonly start: Ms },
): World {
  const open = (which: "have" | "twinHave") =>
    serverlessWorld({
      tellsWork: which === "have",
      seed,
      start,
      invokers: INVOKERS,
      functions: placed.filter(({ demo }) => demo.isThere(start)).map((one) => one.demo.spec(one[which])),
      step: FUNCTIONS_STEP,
    });
  const [managed, twin] = [open("have"), open("twinHave")];
  const told = new Set(managed.functions);
  const moveTo = (): readonly WorldEvent[] =>
    placed.flatMap(({ demo: { id } }) => {
      const isThere = managed.functions.includes(id);
      if (isThere === told.has(id)) return [];
      if (isThere) told.add(id);
      else told.delete(id);
      return [
        {
          workload: id,
          severity: "notice",
          kind: "churn",
          text: isThere ? "was deployed again and joins the fleet" : "was removed and leaves the fleet",
        } satisfies WorldEvent,
      ];
    });
  return {
    kind: "simulated",
    ...sideOf(managed),
    twin: sideOf(twin),
    clock: {
      kind: "moved",
      clock: new ManualClock(start),
      advance: (until) => {
        for (const world of [managed, twin]) {
          world.advance(milliseconds(Math.max(world.now, until)));
          for (const { demo } of placed) churn(world, demo);
        }
      },
    },
    events: { moveTo, causesOf: () => [], releaseOf: () => null },
    fleet: { look: () => ({ present: managed.functions, hosts: hostsOf(managed) }) },
  };
}

/** Comes back with what it had first, as a new deployment does. */
function churn(world: ServerlessWorld, { id, initial, spec, isThere }: DemoFunction): void {
  const [is, should] = [world.functions.includes(id), isThere(world.now)];
  if (is && !should) unwrap(world.remove(id));
  if (!is && should) unwrap(world.add(spec(initial)));
}

function hostsOf(world: ServerlessWorld): readonly HostLook[] {
  const works = new Map((world.work() ?? []).map((work) => [work.invoker, work]));
  return world.invokers().map(({ invoker, cores, memory, room, tenants }) => ({
    name: invoker,
    cores,
    memory: mebibytes(memory),
    reserved: mebibytes(memory - room),
    // Containers of one that was removed end with the calls that they are at.
    tenants: tenants.filter(({ workload }) => world.functions.includes(workload)),
    work: works.get(invoker) ?? null,
  }));
}

function sideOf(world: ServerlessWorld): WorldSide {
  const actuator = serverlessActuator(world);
  return {
    telemetry: {
      read: async (workload) => (world.functions.includes(workload) ? ok(world.read(workload)) : err(away(workload))),
    },
    actuator: {
      read: async (workload, signal) =>
        world.functions.includes(workload) ? actuator.read(workload, signal) : err(away(workload)),
      apply: async (action, signal) =>
        world.functions.includes(action.workload) ? actuator.apply(action, signal) : err(away(action.workload)),
    },
  };
}

const away = (workload: WorkloadId): Failure =>
  failure(AWAY, `${workload} was taken down; its agent waits until it is deployed again`, { retry: true });
