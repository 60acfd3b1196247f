/**
 * What people are shown of a service and its agent.
 * Owns: its knobs by name, what a reading says of a step, and the words for what is short and what was changed.
 * Not here: what a policy is shown (observation.ts).
 */
import type { Resource } from "../../../base/index.ts";
import { resources } from "../../../base/index.ts";
import type { KnobTitle, Measured, MeasuredStep, Symptom, TaskView } from "../../index.ts";
import type { ServiceSetting } from "./action.ts";
import { type ServiceReading, useOf } from "./service-reading.ts";
import { mitigationGain } from "./task.ts";

const titles: { readonly [R in Resource]: { readonly title: string; readonly short: string; readonly unit: string } } =
  {
    cpu: { title: "CPU per container", short: "CPU", unit: "cores" },
    memory: { title: "Memory bandwidth per container", short: "memory bandwidth", unit: "MB/s" },
    llc: { title: "Last-level cache per container", short: "cache", unit: "MiB" },
    io: { title: "Disk per container", short: "disk bandwidth", unit: "MB/s" },
    network: { title: "Network per container", short: "network bandwidth", unit: "MB/s" },
  };

const knobs: readonly KnobTitle[] = [
  { name: "replicas", title: "Containers", unit: "containers" },
  ...resources.map((name) => ({ name, title: titles[name].title, unit: titles[name].unit })),
];

/** Of a limit: less is not worth a word. */
const NOTABLE = 0.1;
/** From here on a limit is what is waited for. */
const FULL = 0.8;

export const serviceView: TaskView<ServiceReading, ServiceSetting> = {
  name: "mitigation",
  judgedBy: "the SLOs of requests through it",
  knobs,
  sums: ["cpuUsed", "cpuGranted"],
  measure,
  symptom: symptomOf,
  changes: (had, have) => [
    ...(had.replicas === have.replicas
      ? []
      : [`${containers(Math.abs(have.replicas - had.replicas), have.replicas > had.replicas ? "more " : "fewer ")}`]),
    ...resources.flatMap((resource) =>
      Math.abs(have[resource] / had[resource] - 1) > NOTABLE
        ? [`${amount(resource, have)} instead of ${amount(resource, had)} of ${titles[resource].short}`]
        : [],
    ),
  ],
  standing: (have) => `${containers(have.replicas)} of ${amount("cpu", have)}`,
};

function measure(reading: ServiceReading | null, { have, passed }: MeasuredStep<ServiceSetting>): Measured {
  const granted = have.replicas * have.cpu * (passed / 1_000);
  const use = reading === null ? null : useOf(reading.containers);
  if (reading === null || use === null)
    return {
      load: null,
      latency: null,
      preservation: null,
      ready: have.replicas,
      use: Object.fromEntries(resources.map((resource) => [resource, null])),
      reward: null,
      cost: 0,
      sums: { cpuUsed: 0, cpuGranted: granted },
      harmed: 0,
    };
  const used = (resource: Resource): number =>
    reading.containers.reduce((sum, one) => sum + one.limits[resource] * (one.use?.[resource] ?? 0), 0);
  return {
    load: reading.offered,
    // Requests have an SLO, and a service has none: it is to blame for theirs, or it is not.
    latency: null,
    preservation: reading.sloMaintenance,
    ready: reading.containers.filter(({ isReady }) => isReady).length,
    use: Object.fromEntries(resources.map((resource) => [resource, used(resource)])),
    reward: mitigationGain({ sloMaintenance: reading.sloMaintenance, use }),
    cost: 0,
    sums: { cpuUsed: used("cpu") * (passed / 1_000), cpuGranted: granted },
    harmed: 0,
  };
}

function symptomOf({ measured, have }: Symptom<ServiceSetting>): string {
  const share = (resource: Resource): number =>
    (measured.use[resource] ?? 0) / (have[resource] * Math.max(1, measured.ready));
  // A cache is always full.
  const flowing = resources.filter((resource) => resource !== "llc");
  const fullest = flowing.reduce((most, one) => (share(one) > share(most) ? one : most), "cpu" as Resource);
  const percent = Math.round(100 * share(fullest));
  return share(fullest) >= FULL
    ? `${titles[fullest].short} is short, ${percent} % of it is used`
    : `no limit is used up (${titles[fullest].short} ${percent} %)`;
}

const containers = (count: number, more = ""): string => `${count} ${more}${count === 1 ? "container" : "containers"}`;
const amount = (resource: Resource, setting: ServiceSetting): string =>
  `${Number(setting[resource].toPrecision(3))} ${titles[resource].unit}`;
