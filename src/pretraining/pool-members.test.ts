import { expect, test } from "vitest";
import { checkEnv } from "../learn/env/index.ts";
import { drawMember, poolEntries, poolShape, poolWorld, sensitivityOf } from "./pool-members.ts";

test("an application is sensitive to what most of its request's time is spent in", () => {
  const phase = { width: 1, io: 0, network: 0 } as never as { width: number; io: never; network: never };
  // 40 ms of CPU on two threads are 20 ms of time; 25 ms of waiting for an object store are more.
  const phases = [
    { ...phase, segment: "image-manipulation", cpu: 40, width: 2, wait: 0 },
    { ...phase, segment: "object-store", cpu: 1, wait: 24 },
  ];
  const { sensitivity: waiting } = { sensitivity: sensitivityOf({ phases }) };
  const [parallel] = phases;
  expect(sensitivityOf({ phases: parallel ? [parallel] : [] })).toBe("parallel-cpu");
  expect(waiting).not.toBe("parallel-cpu");
  expect(sensitivityOf({ phases: phases.map((one) => ({ ...one, cpu: one.cpu * 10 })) })).toBe("parallel-cpu");
});

test("members depend on seed and number alone, and are of both levels and kinds of SLO", () => {
  const choice = { seed: 3, part: "known", index: 5 } as const;
  const [once, again] = [drawMember(choice), drawMember(choice)];
  expect(again).toEqual(once);
  expect(once.scene.load.id).toContain(once.shape);
  expect(drawMember({ ...choice, seed: 4 }).scene.application.id).not.toBe(once.scene.application.id);
  const members = [0, 1, 2, 3].map((index) => drawMember({ seed: 3, part: "known", index }));
  expect(new Set(members.map(({ scene }) => scene.application.id)).size).toBe(4);
  expect(members.map(({ scene }) => scene.load.level)).toEqual(["high", "low", "high", "low"]);
  expect(members.map(({ scene }) => scene.slo.kind)).toEqual(["latency", "latency", "latency", "throughput"]);
  const unseen = drawMember({ seed: 3, part: "unseen", index: 0 });
  expect(unseen.scene.workload).toBe("unseen-3-0");
});

test("a member's world is an environment as the contract wants it, of the shape that learners are built for", () => {
  const [entry] = poolEntries({ seed: 3, part: "unseen" }, 1);
  const env = poolWorld(entry?.world ?? {});
  expect(env.observationSpace.size).toBe(poolShape.obs);
  expect(env.actionSpace.size).toBe(poolShape.action.low.length);
  expect(checkEnv(() => poolWorld(entry?.world ?? {}), { steps: 5 })).toEqual([]);
});
