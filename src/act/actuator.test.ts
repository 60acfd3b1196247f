import { parseWorkloadId, unwrap } from "../base/index.ts";
import { actuatorConformance, startingAllocation } from "./actuator.conformance.ts";
import { memoryActuator } from "./actuator.ts";

actuatorConformance("memory", () => {
  const workload = unwrap(parseWorkloadId("shop"));
  return { workload, actuator: memoryActuator([[workload, startingAllocation]]) };
});
