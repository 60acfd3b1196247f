import { expect, test } from "vitest";
import { decisionOf, eventOf, everything, samplesOf, step } from "../../../test/fixtures/observability/updates.ts";
import { PlaneMetrics } from "../../adapters/observability/index.ts";
import type { PlaneUpdate } from "../../contract/index.ts";
import { createLogger } from "../log.ts";
import { observePlane } from "./observing.ts";

/** A plane that says what it is told to. */
function scripted() {
  const listeners = new Set<(updates: readonly PlaneUpdate[]) => void>();
  return {
    listeners,
    say: (...updates: PlaneUpdate[]) => {
      for (const listener of listeners) listener(updates);
    },
    subscribe: (take: (updates: readonly PlaneUpdate[]) => void) => {
      listeners.add(take);
      return () => void listeners.delete(take);
    },
  };
}

function logged() {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger({
    level: "info",
    sink: {
      write: (line: string) => {
        lines.push(JSON.parse(line) as Record<string, unknown>);
        return true;
      },
    } as never,
  });
  return { lines, log };
}

test("every event from notice upwards is one line with a constant message and its fields; others are none", () => {
  const plane = scripted();
  const { lines, log } = logged();
  observePlane(plane, { log });
  plane.say(
    samplesOf("shop"),
    eventOf({ severity: "info" }),
    decisionOf(),
    eventOf({ severity: "notice" }),
    eventOf({ severity: "warning", kind: "port-failing", agent: null }),
    eventOf({ severity: "error", kind: "crashed", evidence: { large: "object" } }),
  );
  expect(lines.map(({ time: _, ...line }) => line)).toEqual([
    {
      level: "info",
      app: "coxswain",
      kind: "transition",
      severity: "notice",
      workload: "shop",
      agent: "shop-agent",
      text: "shop-agent went ONLINE",
      worldAt: "2023-11-14T22:13:20.000Z",
      msg: "plane event",
    },
    expect.not.objectContaining({ agent: expect.anything() }),
    expect.objectContaining({ level: "error", kind: "crashed" }),
  ]);
  expect(lines[1]).toMatchObject({ level: "warn", kind: "port-failing" });
  expect(lines[2]).not.toHaveProperty("evidence");
});

test("what was said before a restart is not logged again, what was said while it started is", () => {
  const plane = scripted();
  const { lines, log } = logged();
  observePlane(plane, { log });
  // A resumed plane repeats its old events first; its first sample says what time it is.
  plane.say(eventOf({ at: step.at - 3_600_000, kind: "old" }), eventOf({ at: step.at - 15_000, kind: "restarted" }));
  expect(lines).toEqual([]);
  plane.say(samplesOf("shop"), eventOf({ at: step.at - 3_600_000, kind: "older" }), eventOf({ kind: "new" }));
  expect(lines.map(({ kind }) => kind)).toEqual(["restarted", "new"]);
});

test("the metrics page is fed with every kind of update, until it stops listening", async () => {
  const plane = scripted();
  const metrics = new PlaneMetrics({ withProcess: false });
  const leave = observePlane(plane, { metrics });
  plane.say(...everything);
  leave();
  plane.say(eventOf());
  expect(plane.listeners.size).toBe(0);
  const text = await metrics.text();
  expect(text).toContain('coxswain_workload_replicas{workload="shop",run="own"} 4\n');
  expect(text).toContain('coxswain_events_total{kind="transition",severity="notice"} 1\n');
});
