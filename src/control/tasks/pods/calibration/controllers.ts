/**
 * Controllers that read a workload, driven through a calibrated model: the planner, a fallback, and what really was.
 * Owns: the reading that the model would give. Pure. Not here: the world (fluid.ts), the controllers.
 */
import type { Allocation } from "../../../../act/index.ts";
import type { Ms, WorkloadId } from "../../../../base/index.ts";
import { bytes, millicores } from "../../../../base/index.ts";
import type { PodReading, WorkloadReading } from "../../../../observe/telemetry/index.ts";
import type { Fallback } from "../../../index.ts";
import type { CapacityPlanner } from "../capacity/planner.ts";
import type { Course, FluidController, FluidView } from "./fluid.ts";
import { STEP_MS, STEPS } from "./fluid.ts";
import type { Minute } from "./records.ts";

const MIB = 1_048_576;
/** Measurements are as old as in the loads that were recorded. */
const AGE = 24_000;
const LONG_AGO = 3_600_000;
const names = Array.from({ length: 64 }, (_, i) => `pod-${i}`);

/** The controller's own state is where it began; nothing of the real one is touched. */
export function plannerController(planner: CapacityPlanner, course: Course): FluidController {
  let memory = planner.fresh;
  return (view) => {
    const now = nowOf(course, view);
    const { plan, memory: next } = planner.step(memory, readingOf(course, view), now);
    memory = next;
    if (plan !== null) wish(view, plan.setting);
  };
}

export function fallbackController<S>(
  fallback: Fallback<S, WorkloadReading, Allocation>,
  course: Course,
): FluidController {
  let state = fallback.start();
  return (view) => {
    const { state: next, want } = fallback.step(state, readingOf(course, view), nowOf(course, view));
    state = next;
    wish(view, want);
  };
}

/** What was recorded, again: what the model gets wrong about it is known. */
export function recordedController(minutes: readonly Minute[], course: Course): FluidController {
  const byMinute = new Map(minutes.map((minute) => [minute.at, minute]));
  return (view) => {
    const was = byMinute.get(Math.floor((course.first + view.step) / STEPS));
    if (was === undefined) return;
    view.wantPods = was.pods;
    view.wantSize = was.size;
    // It was so, whatever a guard would say.
    view.pods = was.pods;
    view.ready = was.pods;
    view.size = was.size;
  };
}

const nowOf = ({ first }: Course, { step }: FluidView): Ms => (STEP_MS * (first + step)) as Ms;

function wish(view: FluidView, want: Partial<Allocation>): void {
  view.wantPods = want.replicas ?? view.pods;
  view.wantSize = want.cpu ?? view.size;
  view.wantMemory = want.memory === undefined ? view.memory : want.memory / MIB;
}

function readingOf(course: Course, view: FluidView): WorkloadReading {
  const { model } = course;
  const now = nowOf(course, view);
  const { load, strain, pods, ready, size, used } = view;
  const limit = bytes(Math.round(view.memory * MIB));
  const cpu = millicores(Math.round(size));
  const inUse = Math.min(view.memory, model.memory.base + (model.memory.perRequest * load) / Math.max(1, ready));
  const list: PodReading[] = [];
  for (let i = 0; i < pods; i++)
    list.push({
      pod: names[i] ?? `pod-${i}`,
      createdAt: (now - LONG_AGO) as Ms,
      readyAt: i < ready ? ((now - LONG_AGO) as Ms) : null,
      cpuLimit: cpu,
      memoryLimit: limit,
      cpu: i < ready ? millicores(Math.min(size, used / ready)) : null,
      memory: i < ready ? bytes(Math.round(inUse * MIB)) : null,
      restarts: 0,
    } as PodReading);
  const isAsked = load > 0 && !Number.isNaN(strain);
  return {
    workload: "model" as WorkloadId,
    at: (now - AGE) as Ms,
    spec: { replicas: pods, cpu, memory: limit },
    pods: list,
    use: {
      cpu: ready > 0 ? Math.min(1, used / (ready * size)) : null,
      memory: inUse / view.memory,
      io: null,
      network: null,
    },
    latency: isAsked ? model.allowed * Math.exp(strain) : null,
    offered: load,
    completed: load,
    failed: 0,
    ooms: [],
  } as unknown as WorkloadReading;
}
