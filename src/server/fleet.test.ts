import { expect, test } from "vitest";
import { fleet } from "../../test/fixtures/documents/fleet.ts";
import { serverStage } from "../../test/fixtures/server/fake-plane.ts";
import type { OverviewDocument } from "../contract/index.ts";
import { createReadModel } from "./read-model/read-model.ts";

const hasFleet = async (stage: ReturnType<typeof serverStage>): Promise<boolean> =>
  ((await (await stage.ask("/v1/overview")).json()) as OverviewDocument).hasFleet;

test("where nothing was told of a fleet there is none, and the overview says so", async () => {
  const stage = serverStage();
  const answer = await stage.ask("/v1/fleet");
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ code: "plane.no-fleet" });
  expect(await hasFleet(stage)).toBe(false);
});

test("the newest fleet is given whole, and the stream says only that it has changed", async () => {
  const stage = serverStage();
  stage.plane.send({ kind: "fleet", fleet }, { kind: "fleet", fleet: { ...fleet, at: fleet.at + 1 } });
  expect(await (await stage.ask("/v1/fleet")).json()).toEqual({ ...fleet, at: fleet.at + 1 });
  expect(await hasFleet(stage)).toBe(true);
  expect(createReadModel().apply([{ kind: "fleet", fleet }])).toEqual([{ kind: "fleet", at: fleet.at }]);
});

test("a fleet of more members than there is room for is refused and counted", () => {
  const limits = { things: 4, knobsPerWorkload: 3, pointsPerTier: 16, decisionsPerWorkload: 3, eventsPerSeverity: 2 };
  const model = createReadModel(limits);
  expect(model.apply([{ kind: "fleet", fleet }])).toEqual([]);
  expect([model.fleet(), model.refused]).toEqual([undefined, 1]);
});
