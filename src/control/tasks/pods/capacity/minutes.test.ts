import { describe, expect, test } from "vitest";
import { milliseconds } from "../../../../base/index.ts";
import { loadIn, loadsBefore, MINUTE, minutesAfter, minutesFrom, noMinutes } from "./minutes.ts";

describe("the loads of the minutes before one", () => {
  test("are in hundredths, the newest last, and −1 where nobody looked", () => {
    let minutes = minutesAfter(noMinutes, 10, 500);
    minutes = minutesAfter(minutes, 12, 700);
    const loads = new Float64Array(5);
    loadsBefore(minutes, 14, loads);
    // Minutes 9 to 13: before the first, the first, nobody, the newest, not measured yet.
    expect([...loads]).toEqual([-1, 500, -1, 700, -1]);
  });

  test("are none where nothing is known", () => {
    const loads = new Float64Array(3);
    loadsBefore(noMinutes, 100, loads);
    expect([...loads]).toEqual([-1, -1, -1]);
  });

  test("are those of each minute by itself, also from before the clock began and across what is kept", () => {
    const perMinute = Array.from({ length: 3_500 }, (_, i) => i % 97);
    for (const until of [1, 1_000, 3_060, 9_999]) {
      const minutes = minutesFrom({ perMinute, until: milliseconds(until * MINUTE) });
      for (const length of [1, 59, 3_030, 3_400]) {
        const loads = new Float64Array(length);
        loadsBefore(minutes, until + 7, loads);
        expect([...loads]).toEqual(Array.from(loads, (_, i) => loadIn(minutes, until + 7 - length + i)));
      }
    }
  });
});
