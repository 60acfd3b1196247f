import { expect, expectTypeOf, test } from "vitest";
import type { Millicores, Ms } from "./units.ts";
import {
  bytes,
  cores,
  kibibytes,
  mebibytes,
  millicores,
  milliseconds,
  minutes,
  perSecond,
  ratio,
  seconds,
} from "./units.ts";

test("each constructor converts to the unit of its quantity", () => {
  expect([milliseconds(250), seconds(1.5), minutes(2)]).toEqual([250, 1500, 120_000]);
  expect([millicores(250), cores(0.25)]).toEqual([250, 250]);
  expect([bytes(10), kibibytes(2), mebibytes(3)]).toEqual([10, 2048, 3_145_728]);
  expect([perSecond(7), ratio(0.5)]).toEqual([7, 0.5]);
});

test("a bare number and a quantity of another unit are not accepted where a unit is asked for", () => {
  expectTypeOf<number>().not.toExtend<Ms>();
  expectTypeOf<Millicores>().not.toExtend<Ms>();
  expectTypeOf<Ms>().toExtend<number>();
});
