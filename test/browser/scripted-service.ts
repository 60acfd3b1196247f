/** Turns one workload of the scripted plane into a service of containers: other knobs in other units. */
import type { KnobDocument, PlaneUpdate, Sample, SettingDocument } from "../../src/contract/index.ts";

const knobs: readonly KnobDocument[] = [
  { name: "replicas", title: "Containers", unit: "containers" },
  { name: "cpu", title: "CPU per container", unit: "cores" },
  { name: "memory", title: "Memory bandwidth per container", unit: "MB/s" },
  { name: "llc", title: "Last-level cache per container", unit: "MiB" },
];

const settingOf = ({ replicas = 1, cpu = 0 }: SettingDocument): SettingDocument => ({
  replicas,
  cpu: cpu / 1000,
  memory: 7_500,
  llc: 4.5,
});

const sampleOf = (sample: Sample): Sample => ({
  ...sample,
  have: settingOf(sample.have),
  use: { cpu: (sample.use.cpu ?? 0) / 1000, memory: 5_000 },
});

export const asService =
  (id: string) =>
  (update: PlaneUpdate): PlaneUpdate => {
    switch (update.kind) {
      case "workload":
        return update.workload.id === id
          ? { kind: "workload", workload: { ...update.workload, task: "containers", knobs } }
          : update;
      case "samples":
        return {
          ...update,
          samples: update.samples.map((row) =>
            row.workload === id ? { ...row, sample: sampleOf(row.sample), twin: row.twin && sampleOf(row.twin) } : row,
          ),
        };
      case "decision": {
        const { have, proposed, executed, fallback } = update.decision;
        if (update.decision.workload !== id) return update;
        return {
          kind: "decision",
          decision: {
            ...update.decision,
            have: have && settingOf(have),
            proposed: proposed && settingOf(proposed),
            executed: executed && settingOf(executed),
            fallback: fallback && settingOf(fallback),
          },
        };
      }
      default:
        return update;
    }
  };
