import { shop, simpleWorld } from "../../../test/fixtures/sim/simple-cluster.ts";
import { actuatorConformance, startingAllocation } from "../../act/actuator.conformance.ts";
import { simActuator } from "./actuator.ts";

actuatorConformance("the event world", () => {
  return { workload: shop, actuator: simActuator(simpleWorld({ initial: startingAllocation })) };
});

actuatorConformance("the event world that recreates pods", () => {
  const world = simpleWorld({ initial: startingAllocation, resize: "recreate" });
  return { workload: shop, actuator: simActuator(world) };
});
