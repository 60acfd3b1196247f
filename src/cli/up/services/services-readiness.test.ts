import { expect, test } from "vitest";
import { ReadinessTeller, type ServicesCondition, servicesReadiness } from "./services-readiness.ts";

const well: ServicesCondition = { isTroubled: false, damage: { places: 0, bytes: 0, files: [] }, agents: "none" };

test("agents of before a restart are waited for, and new ones are not", () => {
  expect(servicesReadiness(well)).toEqual({ reasons: [], notes: [] });
  expect(servicesReadiness({ ...well, agents: "awaited" }).reasons).toHaveLength(1);
  expect(servicesReadiness({ ...well, agents: "lost" })).toMatchObject({ reasons: [], notes: [expect.any(String)] });
  const agents = { reasons: ["the state of 1 agent cannot be saved"], notes: [] };
  expect(servicesReadiness({ ...well, agents }).reasons).toEqual(["services: the state of 1 agent cannot be saved"]);
});

test("what cannot be kept is a reason, what is lost for good is none, and no path is told", () => {
  const damage = { places: 2, bytes: 9, files: ["/data/spans/1"] };
  const { reasons, notes } = servicesReadiness({ ...well, isTroubled: true, damage });
  expect(reasons).toEqual(["spans cannot be kept"]);
  expect(notes).toEqual(["the span journal was damaged in 2 places: acknowledged spans are lost"]);
});

test("only what is new is told", () => {
  let condition = well;
  const told: number[] = [];
  const teller = new ReadinessTeller(
    () => condition,
    ({ reasons }) => told.push(reasons.length),
  );
  teller.tell();
  teller.tell();
  condition = { ...well, isTroubled: true };
  teller.tell();
  condition = well;
  teller.tell();
  expect(told).toEqual([0, 1, 0]);
});
