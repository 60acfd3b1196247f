import { expect, test } from "vitest";
import { err, failure, milliseconds, ok, type Result } from "../base/index.ts";
import { obey, setAllModes } from "./commands.ts";
import type { Commanded, ManagedWorkload } from "./managed-workload.ts";

/** As much of a workload as a mode is about. */
const workload = (id: string): ManagedWorkload =>
  ({
    target: { id, title: id },
    agent: { id: `${id}-agent`, wishes: { mode: "act", isPaused: false, revision: 1 } },
  }) as unknown as ManagedWorkload;

function planeOf(workloads: readonly ManagedWorkload[], save: () => Result<void>) {
  const said: string[] = [];
  const told: string[] = [];
  const plane: Commanded = {
    now: milliseconds(0),
    workloads,
    faults: undefined,
    say: ({ text }) => said.push(text),
    tellWorkload: () => undefined,
    tellAgent: ({ agent }) => told.push(agent.id),
    save,
    saveAgent: () => Promise.reject(new Error("an agent's own state has no mode in it")),
  };
  return { plane, said, told };
}

test("one mode for all agents: each is told and has a new revision, and all are saved by one write", () => {
  let writes = 0;
  const workloads = ["geo", "user"].map(workload);
  const { plane, said, told } = planeOf(workloads, () => {
    // What is written has all of them.
    expect(workloads.map(({ agent }) => agent.wishes.mode)).toEqual(["recommend", "recommend"]);
    writes += 1;
    return ok(undefined);
  });
  expect(setAllModes(plane, "recommend").ok).toBe(true);
  expect(writes).toBe(1);
  expect(workloads.map(({ agent }) => agent.wishes.revision)).toEqual([2, 2]);
  expect(told).toEqual(["geo-agent", "user-agent"]);
  expect(said).toEqual([
    "geo: a person asked to set the mode to recommend",
    "user: a person asked to set the mode to recommend",
  ]);
});

test("a mode that could not be saved is in force and said not to be safe", () => {
  const { plane } = planeOf([workload("geo")], () => err(failure("disk.full", "no space is left")));
  expect(setAllModes(plane, "recommend")).toMatchObject({ ok: false, failure: { code: "plane.not-saved" } });
});

test("a workload that is judged by others' SLOs has none to set", async () => {
  const service = { ...workload("geo"), revision: 1 } as ManagedWorkload;
  Object.assign(service.target, { view: { judgedBy: "the SLOs of requests through it" } });
  const { plane } = planeOf([service], () => ok(undefined));
  const slo = { kind: "latency", quantile: 0.99, target: 100 } as const;
  expect(await obey(plane, { kind: "set-slo", workload: "geo", slo }, null)).toMatchObject({
    ok: false,
    failure: {
      code: "plane.no-own-slo",
      message: expect.stringContaining("judged by the SLOs of requests through it"),
    },
  });
});
