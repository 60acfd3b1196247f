import { expect, test } from "vitest";
import { seconds } from "../../base/index.ts";
import { Localizer } from "../../control/localize/index.ts";
import { hotelReservation } from "../../sim/index.ts";
import { drawCase } from "./localization-cases.ts";
import { CALM, culpritsOf, LocalizationScene } from "./localization-scene.ts";

const world = { application: hotelReservation, seed: 1_234, perSecond: 100 };
const cpu = {
  id: "x",
  kind: "cpu" as const,
  pattern: "constant" as const,
  start: CALM,
  duration: seconds(11),
  target: { on: "instance" as const, service: "profile", replica: 0 },
};

test("an injection is to blame when it alone breaks an SLO, and not when nobody notices it", () => {
  expect(culpritsOf(world, { ...cpu, intensity: 1 })).toEqual(["profile-0"]);
  expect(culpritsOf(world, { ...cpu, intensity: 0.01 })).toEqual([]);
});

test("a case is drawn that breaks an SLO, the same for the same seed", () => {
  const draw = () => drawCase({ ...world, kind: "io-bandwidth", start: CALM, duration: seconds(11) });
  const drawn = draw();
  expect(drawn?.injection.target).toMatchObject({ on: "instance", service: expect.stringMatching(/^mongodb/) });
  expect(culpritsOf(world, drawn?.injection as NonNullable<typeof drawn>["injection"])).toHaveLength(1);
  expect(draw()).toEqual(drawn);
});

test("who watches a scene suspects the stressed container first, names its resource and what it costs", () => {
  const localizer = new Localizer({ seed: 1 });
  const scene = new LocalizationScene({ ...world, sampling: 1 }, [localizer]);
  expect(scene.run([], CALM)).toBe(false);
  scene.settleNormal();
  expect(scene.run([{ ...cpu, intensity: 0.8 }], seconds(21))).toBe(true);
  const [first] = localizer.suspects(seconds(21));
  expect(first).toMatchObject({ instance: "profile-0", resource: "cpu" });
  expect(first?.expectedSaving).toBeGreaterThan(1);
});
