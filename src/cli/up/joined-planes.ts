/**
 * Several planes as the server has one: the cluster's workloads, and the services' on their own thread.
 * Owns: whose a command is. Not here: either plane (open-plane.ts, services/open-services.ts).
 *
 * Each keeps its own time, and all that is told goes on as it is: documents are read by the clock of their workload
 * (contract/plane.ts), so nobody has to bring the times together.
 */
import type { ControlPlane } from "../../contract/index.ts";
import type { RunningPlane } from "./open-plane.ts";
import type { RunningServices } from "./services/open-services.ts";

export function joinedPlanes(plane: RunningPlane, services: RunningServices | undefined): ControlPlane {
  if (services === undefined) return plane;
  /** Agents and workloads of services, by id. */
  const own = new Set<string>();
  services.subscribe((updates) => {
    for (const update of updates) {
      if (update.kind === "agent") own.add(update.agent.id);
      if (update.kind === "workload") own.add(update.workload.id);
    }
  });
  return {
    get worlds() {
      return [...plane.worlds, ...services.worlds];
    },
    subscribe(take, options) {
      const ends = [plane, services].map((one) => one.subscribe(take, options));
      return () => {
        for (const end of ends) end();
      };
    },
    command: (command, options) =>
      own.has("agent" in command ? command.agent : command.workload)
        ? services.command(command, options)
        : plane.command(command, options),
    trajectories: (query) => (own.has(query.agent) ? services.trajectories(query) : plane.trajectories(query)),
    readiness() {
      const [own, beside] = [plane.readiness(), services.readiness()];
      return { reasons: [...own.reasons, ...beside.reasons], notes: [...own.notes, ...beside.notes] };
    },
  };
}
