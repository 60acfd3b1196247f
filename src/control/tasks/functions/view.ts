/**
 * What people are shown of a serverless function.
 * Owns: its knobs by name, what a reading says of a step, the words for what is short and what was changed.
 * Not here: what a policy is shown (observation.ts).
 */
import type { FunctionReading } from "../../../observe/telemetry/index.ts";
import type { Measured, Symptom, TaskView } from "../../index.ts";
import type { FunctionSetting } from "./action.ts";
import { preservationOf } from "./observation.ts";
import { functionReward } from "./reward.ts";

export const functionView: TaskView<FunctionReading, FunctionSetting> = {
  name: "functions",
  knobs: [
    { name: "containers", title: "Containers", unit: "containers" },
    { name: "shares", title: "CPU per container", unit: "shares" },
    { name: "memory", title: "Memory per container", unit: "MiB" },
  ],
  sums: ["cpuUsed", "cpuGranted", "memoryUsed", "memoryGranted"],
  measure: (reading, { have, passed }) => (reading === null ? unseen : seen(reading, have, passed / 1_000)),
  symptom: symptomOf,
  changes: (had, have) =>
    (["containers", "shares", "memory"] as const).flatMap((knob) =>
      had[knob] === have[knob] ? [] : [`${words[knob]} from ${had[knob]} to ${have[knob]}`],
    ),
  standing: ({ containers }) => (containers === 1 ? "1 container" : `${containers} containers`),
};

const words = { containers: "containers", shares: "CPU shares", memory: "MiB of memory" } as const;
const SHARES_PER_CORE = 1_024;
const MIB_PER_GIB = 1_024;
/** Dollars, the same public prices that pods are reckoned with: who holds memory and CPU ready pays for them, used or not. */
const CORE_HOUR = 0.040_48;
const GIB_HOUR = 0.004_773;

const unseen: Measured = {
  load: null,
  latency: null,
  preservation: null,
  ready: 0,
  use: { shares: null, memory: null },
  reward: null,
  cost: 0,
  sums: { cpuUsed: 0, cpuGranted: 0, memoryUsed: 0, memoryGranted: 0 },
  harmed: 0,
};

function seen(reading: FunctionReading, have: FunctionSetting, seconds: number): Measured {
  const { ready, use, offered, latency, kills } = reading;
  const preservation = preservationOf(reading);
  const [cpu, memory] = [Math.min(1, use.cpu ?? 0), Math.min(1, use.memory ?? 0)];
  const cores = (ready * have.shares * seconds) / SHARES_PER_CORE;
  const held = ready * have.memory * seconds;
  return {
    load: offered,
    latency,
    preservation,
    ready,
    use: {
      shares: use.cpu === null ? null : use.cpu * ready * have.shares,
      memory: use.memory === null ? null : use.memory * ready * have.memory,
    },
    reward: use.cpu === null || use.memory === null ? null : functionReward({ preservation, cpu, memory }),
    cost: (cores * CORE_HOUR + (held / MIB_PER_GIB) * GIB_HOUR) / 3_600,
    sums: { cpuUsed: cpu * cores, cpuGranted: cores, memoryUsed: memory * held, memoryGranted: held },
    harmed: kills,
  };
}

function symptomOf({ measured, have, harmed }: Symptom<FunctionSetting>): string {
  if (harmed > 0) return "memory is short, containers were killed for it";
  const granted = measured.ready * have.shares;
  const used = measured.use.shares ?? 0;
  if (granted > 0 && used / granted > 0.9) return `CPU is short, ${Math.round((100 * used) / granted)} % of it is used`;
  return "calls wait for containers, or for others on the same invokers";
}
