import { expect, test } from "vitest";
import { ok } from "../../base/index.ts";
import type { PlaneUpdate } from "../../contract/index.ts";
import { joinedPlanes } from "./joined-planes.ts";
import type { RunningPlane } from "./open-plane.ts";
import type { RunningServices } from "./services/open-services.ts";

type Take = (updates: readonly PlaneUpdate[]) => void;

function planes() {
  const asked: string[] = [];
  const listeners = new Map<string, Set<Take>>([
    ["plane", new Set()],
    ["services", new Set()],
  ]);
  const of = (name: string) => ({
    worlds: [{ kind: "simulated", tasks: [name], startedAt: 0, speed: 1 }],
    subscribe: (take: Take) => {
      listeners.get(name)?.add(take);
      return () => listeners.get(name)?.delete(take);
    },
    command: async (command: { kind: string }) => {
      asked.push(`${name}: ${command.kind}`);
      return ok({ revision: 2 });
    },
    trajectories: async () => {
      asked.push(`${name}: trajectories`);
      return ok({ items: [], next: null });
    },
    readiness: () => ({ reasons: [`${name} waits`], notes: [] }),
  });
  const joined = joinedPlanes(of("plane") as unknown as RunningPlane, of("services") as unknown as RunningServices);
  const tell = (name: string, updates: readonly unknown[]) => {
    for (const take of listeners.get(name) ?? []) take(updates as readonly PlaneUpdate[]);
  };
  return { joined, asked, tell, listeners };
}

test("all that is told of services is told beside what is told of the cluster, and each world has its own clock", () => {
  const { joined, tell, listeners } = planes();
  const heard: string[] = [];
  const end = joined.subscribe((updates) => heard.push(...updates.map(({ kind }) => kind)));
  tell("plane", [{ kind: "samples" }, { kind: "workload", workload: { id: "shop" } }]);
  const geo = [
    { kind: "workload", workload: { id: "geo" } },
    { kind: "agent", agent: { id: "geo-agent" } },
  ];
  tell("services", [...geo, { kind: "samples" }, { kind: "decision", decision: {} }, { kind: "event", event: {} }]);
  expect(heard).toEqual(["samples", "workload", "workload", "agent", "samples", "decision", "event"]);
  expect(joined.worlds.map(({ tasks }) => tasks)).toEqual([["plane"], ["services"]]);
  end();
  expect([...listeners].map(([name, takes]) => [name, takes.size])).toEqual([
    ["plane", 0],
    // It goes on hearing whose agents are whose.
    ["services", 1],
  ]);
});

test("a command goes to the plane whose agent it is", async () => {
  const { joined, asked, tell } = planes();
  tell("services", [{ kind: "agent", agent: { id: "geo-agent" } }]);
  await joined.command({ kind: "pause", agent: "geo-agent" }, { revision: null });
  await joined.command({ kind: "pause", agent: "shop-agent" }, { revision: null });
  await joined.trajectories({ agent: "geo-agent", limit: 1, before: null });
  expect(asked).toEqual(["services: pause", "plane: pause", "services: trajectories"]);
});

test("it is ready when both are", () => {
  expect(planes().joined.readiness()).toEqual({ reasons: ["plane waits", "services waits"], notes: [] });
});
