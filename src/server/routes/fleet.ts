/**
 * The fleet as a whole: workloads that come and go, and the machines that they share.
 * Owns: the route. Not here: the document (plane/fleet-watch.ts), how each workload did (reading.ts).
 */
import { failure } from "../../base/index.ts";
import { fleetSchema } from "../../contract/schemas/index.ts";
import { addEndpoint, type HonoApp } from "../endpoint.ts";
import type { ReadModel } from "../read-model/read-model.ts";

const NONE = failure(
  "plane.no-fleet",
  "nothing that is managed here shares machines and comes and goes: `coxswain up --demo functions` has such a fleet",
);

export function addFleetRoute(app: HonoApp, model: Pick<ReadModel, "fleet">): void {
  addEndpoint(app, {
    id: "getFleet",
    method: "get",
    path: "/v1/fleet",
    tag: "control plane",
    summary: "The fleet: who is there, how each does lately and over time, and who holds up whom on which machine.",
    description:
      "The newest, told about once a minute of the managed world's time and whenever somebody comes or goes. Series have at most 240 points of a minute, from when the process began.",
    answer: fleetSchema,
    problems: [404],
    handle() {
      const document = model.fleet();
      return document === undefined ? { failure: NONE } : { document };
    },
  });
}
