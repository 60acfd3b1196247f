import { expect, test } from "vitest";
import { agentNotesSchema } from "../contract/schemas/index.ts";
import type { Measured } from "../control/index.ts";
import { countDecision, freshSteering, type Steered, type SteeringContext, steeringDocument } from "./steering.ts";

const context = (price: number): SteeringContext => ({
  slo: { kind: "none" },
  view: {
    measure: (_reading, { have }) => ({ cost: price * (have.rooms ?? 0) * (have.size ?? 0) }) as Measured,
  },
});

const decided = (change: Partial<Steered> = {}): Steered => ({
  who: "learner",
  proposed: { rooms: 2, size: 10 },
  executed: { rooms: 2, size: 10 },
  fallback: { rooms: 3, size: 10 },
  ...change,
});

const after = (decisions: readonly Steered[], price = 1) =>
  decisions.reduce((so, decision) => countDecision(so, decision, context(price)), freshSteering);
const of = (decisions: readonly Steered[], price = 1) => steeringDocument(after(decisions, price)).total;

test("a decision is its own only if every knob is what it proposed", () => {
  expect(of([decided()])).toEqual({ decisions: 1, asProposed: 1, less: 1 });
  expect(of([decided({ executed: { rooms: 2, size: 11 } })])).toMatchObject({ asProposed: 0, less: 1 });
  expect(of([decided({ executed: { rooms: 2, size: 10, doors: 1 } })])).toMatchObject({ asProposed: 0 });
  // What the actuator failed to do was not done, and what nobody proposed was not proposed.
  expect(of([decided({ executed: null }), decided({ proposed: null })])).toEqual({
    decisions: 2,
    asProposed: 0,
    less: 1,
  });
});

test("decisions of others are not counted", () => {
  expect(of([decided({ who: "fallback" }), decided({ who: "nobody" })])).toEqual({
    decisions: 0,
    asProposed: 0,
    less: 0,
  });
});

test("less is cheaper where there are prices, and otherwise less of a knob and more of none", () => {
  // 4 rooms of 5 are 20, and the fallback has 3 of 10: cheaper, though there are more rooms.
  const more = decided({ executed: { rooms: 4, size: 5 } });
  expect(of([more]).less).toBe(1);
  expect(of([more], 0).less).toBe(0);
  expect(of([decided({ executed: { rooms: 3, size: 9 } })], 0).less).toBe(1);
  expect(of([decided({ executed: { rooms: 3, size: 10 } })]).less).toBe(0);
  expect(of([decided({ executed: { rooms: 3, size: 10 } })], 0).less).toBe(0);
  expect(of([decided({ fallback: null })]).less).toBe(0);
});

test("the newest thousand are counted apart from all, and are what is read again", () => {
  const overruled = decided({ executed: { rooms: 3, size: 11 } });
  const steering = after([...Array<Steered>(300).fill(overruled), ...Array<Steered>(900).fill(decided())]);
  expect(steeringDocument(steering)).toEqual({
    decisions: 1_000,
    asProposed: 900,
    less: 900,
    total: { decisions: 1_200, asProposed: 900, less: 900 },
  });
  const notes = { begun: 0, acting: "learner", episodes: [], estimate: null, updates: 0 };
  expect(agentNotesSchema.parse({ ...notes, steering }).steering).toEqual(steering);
  expect(agentNotesSchema.parse(notes).steering).toEqual(freshSteering);
  expect(agentNotesSchema.safeParse({ ...notes, steering: { ...steering, newest: "4" } }).success).toBe(false);
});
