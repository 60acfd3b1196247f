import { expect, test } from "vitest";
import { podKnobs } from "../../../test/fixtures/documents/pod-knobs.ts";
import { NOTHING } from "./format.ts";
import { countFor, nameOfAll, quantityOf, sayFor } from "./knobs.ts";

const serviceKnobs = [
  { name: "replicas", title: "Containers", unit: "containers" },
  { name: "cpu", title: "CPU per container", unit: "cores" },
  { name: "llc", title: "Last-level cache per container", unit: "MiB" },
  { name: "io", title: "Disk per container", unit: "MB/s" },
];
const queueKnobs = [
  { name: "rate", title: "Rate", unit: "messages/s" },
  { name: "share", title: "Share", unit: "" },
];

const said = (knobs: typeof serviceKnobs | typeof podKnobs, values: readonly number[]) =>
  knobs.map((knob, index) => sayFor(knob, knobs)(values[index]));

test("values carry the unit of their knob, and a count none", () => {
  expect(said(podKnobs, [4, 1100, 3 * 2 ** 28])).toEqual(["4", "1.1 cores", "768 MiB"]);
  expect(said(serviceKnobs, [2, 0.6, 4.5, 750])).toEqual(["2", "0.6 cores", "4.5 MiB", "750 MB/s"]);
  expect(said(queueKnobs, [20, 0.125])).toEqual(["20 messages/s", "0.125"]);
  expect(sayFor({ name: "rate", title: "Rate", unit: "messages/s" }, queueKnobs)(null)).toBe(NOTHING);
});

test("in a table the unit is part of the name", () => {
  const rows = (knobs: typeof serviceKnobs | typeof podKnobs, values: readonly number[]) =>
    knobs.map((knob, index) => {
      const { name, say } = quantityOf(knob, knobs);
      return [name, say(values[index])];
    });
  expect(rows(podKnobs, [4, 1155, 3 * 2 ** 28])).toEqual([
    ["Replicas", "4"],
    ["Cores per pod", "1.16"],
    ["MiB per pod", "768"],
  ]);
  expect(rows(serviceKnobs, [2, 0.6, 4.5, 750])).toEqual([
    ["Containers", "2"],
    ["CPU per container, cores", "0.6"],
    ["Last-level cache per container, MiB", "4.5"],
    ["Disk per container, MB/s", "750"],
  ]);
  expect(rows(queueKnobs, [20, 0.125])).toEqual([
    ["Rate, messages/s", "20"],
    ["Share", "0.125"],
  ]);
});

test("what one member has is counted by the knob in members", () => {
  expect(podKnobs.map((knob) => countFor(knob, podKnobs)?.name)).toEqual([undefined, "replicas", "replicas"]);
  expect(serviceKnobs.map((knob) => countFor(knob, serviceKnobs)?.name)).toEqual([
    undefined,
    "replicas",
    "replicas",
    "replicas",
  ]);
  expect([nameOfAll("cpu", podKnobs), nameOfAll("gone", podKnobs)]).toEqual(["CPU", "gone"]);
});
