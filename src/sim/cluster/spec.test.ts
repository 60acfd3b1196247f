import { expect, test } from "vitest";
import {
  idealNode,
  oneBigPod,
  phaseOf,
  plainApplication,
  type SimpleOptions,
  simpleWorld,
  steadyLoad,
} from "../../../test/fixtures/sim/simple-cluster.ts";
import { cores, mebibytes, milliseconds, perSecond, seconds } from "../../base/index.ts";

const refused: readonly (readonly [string, SimpleOptions])[] = [
  ["starts at NaN", { start: milliseconds(Number.NaN) }],
  ["node only has 0 millicores", { nodes: [idealNode("only", { cpu: cores(0) })] }],
  ["an unknown processor 'z80'", { nodes: [{ ...idealNode("only"), processor: "z80" as "ideal" }] }],
  ["starts with 1.5 replicas", { initial: { ...oneBigPod, replicas: 1.5 } }],
  ["starts with 64000 millicores and 0 bytes", { initial: { ...oneBigPod, memory: mebibytes(0) } }],
  ["which is empty", { load: { ...steadyLoad(1), perMinute: new Float64Array(0) } }],
  ["an SLO target of 0", { slo: { kind: "throughput", target: perSecond(0) } }],
  ["which does nothing", { application: plainApplication({ phases: [] }) }],
  ["negative work or no width", { application: plainApplication({ phases: [phaseOf(-1)] }) }],
  ["no payload sizes", { application: plainApplication({ sizes: [] }) }],
  ["with 0 threads", { application: plainApplication({ threads: 0 }) }],
  ["whose clients wait 0 ms", { application: plainApplication({ timeout: seconds(0) }) }],
  ["its metrics", { metrics: { missing: 2 } }],
];

test.each(refused)("a world that cannot be built is refused, and says why: %s", (why, options) => {
  expect(() => simpleWorld(options)).toThrow(expect.objectContaining({ code: "world.options" }));
  expect(() => simpleWorld(options)).toThrow(why);
});
