import { actuatorConformance } from "../../act/actuator.conformance.ts";
import { milliseconds, parseWorkloadId, seconds, unwrap } from "../../base/index.ts";
import { serverlessActuator } from "./actuator.ts";
import { serverlessWorld } from "./event/event-world.ts";
import { functionProfiles } from "./functions.ts";
import { localInvokers } from "./invokers.ts";

const start = { shares: 512, memory: 256, containers: 2 } as const;

actuatorConformance(
  "the serverless world",
  () => {
    const workload = unwrap(parseWorkloadId("primes"));
    const world = serverlessWorld({
      seed: 1,
      invokers: localInvokers(1),
      functions: [
        { id: workload, profile: functionProfiles.primes, pattern: { kind: "flat", rate: 1 }, initial: start },
      ],
      step: seconds(10),
    });
    const actuator = serverlessActuator(world);
    return {
      workload,
      // What is asked for takes effect a moment later.
      actuator: {
        read: async (asked, signal) => {
          world.advance(milliseconds(world.now + 30_000));
          return actuator.read(asked, signal);
        },
        apply: (action, signal) => actuator.apply(action, signal),
      },
    };
  },
  {
    start,
    sets: [
      { containers: 5 },
      { shares: 1_024, memory: 512 },
      { memory: 128 },
      { containers: 1, shares: 256, memory: 512 },
    ],
  },
);
