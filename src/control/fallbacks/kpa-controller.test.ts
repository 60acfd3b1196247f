import { describe, expect, test } from "vitest";
import type { Ms, PerSecond } from "../../base/index.ts";
import { mebibytes, millicores, parseWorkloadId, seconds, unwrap } from "../../base/index.ts";
import type { WorkloadReading } from "../../observe/telemetry/index.ts";
import { parseKpaConfig } from "./kpa/kpa.ts";
import type { KpaFallbackState } from "./kpa-controller.ts";
import { kpaController } from "./kpa-controller.ts";

const base = 1_700_000_000;
const at = (s: number): Ms => seconds(base + s);
// A pod takes 10 requests/s, and 7 are aimed at.
const controller = kpaController(unwrap(parseKpaConfig({ total: 10, minScale: 1, maxScale: 50 })));

interface Given {
  readonly now: number;
  readonly offered: number | null;
  readonly pods: number;
}
const readingOf = ({ now, offered, pods }: Given): WorkloadReading => ({
  workload: unwrap(parseWorkloadId("shop")),
  at: at(now - 15),
  spec: { replicas: pods, cpu: millicores(500), memory: mebibytes(256) },
  pods: Array.from({ length: pods }, (_, index) => ({
    pod: `p${index}`,
    createdAt: at(-1000),
    readyAt: at(-990),
    cpuLimit: millicores(500),
    memoryLimit: mebibytes(256),
    cpu: null,
    memory: null,
    restarts: 0,
  })),
  use: { cpu: null, memory: null, io: null, network: null },
  latency: null,
  offered: offered as PerSecond | null,
  completed: null,
  failed: null,
  ooms: [],
});

function walk(given: readonly Given[]) {
  let state: KpaFallbackState = controller.start();
  return given.map((one) => {
    const step = controller.step(state, readingOf(one), at(one.now));
    state = JSON.parse(JSON.stringify(step.state)) as KpaFallbackState;
    return step;
  });
}
const steadily = (offered: number, pods: number, count: number): Given[] =>
  Array.from({ length: count }, (_, index) => ({ now: 15 * index, offered, pods }));

describe("Knative's autoscaler over readings", () => {
  test("wants a pod for every 7 requests per second, and touches no limit", () => {
    const steps = walk(steadily(20, 3, 8));
    expect(steps.at(-1)?.want).toEqual({ replicas: 3 }); // 20/7 = 2.86
    expect(steps.at(-1)).not.toHaveProperty("pods");
  });

  test("averages over a minute: a rise counts by its part of the window", () => {
    const steps = walk([...steadily(7, 1, 5), { now: 75, offered: 14, pods: 1 }]);
    // 15 s of 14 and 45 s of 7 are 8.75: two pods of 7. The panic window has only the 14: also two, twice the ready one.
    expect(steps.at(-1)?.want).toEqual({ replicas: 2 });
    expect(steps.at(-1)?.reasons).toEqual([{ by: "kpa", reason: "panicking" }]);
  });

  test("panics at twice the load, by the last six seconds alone", () => {
    const steps = walk([...steadily(7, 1, 5), { now: 75, offered: 70, pods: 1 }]);
    expect(steps.at(-1)?.want).toEqual({ replicas: 10 });
  });

  test("starts beside pods that run without shrinking them, then does", () => {
    const steps = walk(steadily(7, 8, 8));
    // panic of a fresh start ends after a minute; then it halves at most
    expect(steps.slice(0, 5).map(({ want }) => want.replicas)).toEqual([8, 8, 8, 8, 8]);
    expect(steps.at(-1)?.want.replicas).toBe(4);
  });

  test("changes nothing when the rate has been missing for a minute, and says so", () => {
    const blind = [15, 30, 45, 60, 75, 90].map((now) => ({ now, offered: null, pods: 2 }));
    const steps = walk([{ now: 0, offered: 14, pods: 2 }, ...blind]);
    expect(steps.at(-1)).toMatchObject({ want: { replicas: 2 }, failure: { code: "kpa.no-data" } });
  });

  test("fills nothing while a clock is behind, and goes on when it has caught up", () => {
    const steps = walk([...steadily(14, 2, 6), { now: 10, offered: 700, pods: 2 }, { now: 90, offered: 14, pods: 2 }]);
    expect(steps.at(-2)?.state?.filledTo).toBe(at(75));
    expect(steps.at(-1)?.want).toEqual({ replicas: 2 });
  });
});
