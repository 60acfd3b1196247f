/** `coxswain coordinator`: holds the fleets of its pools together over NATS, and hosts their simulated platforms. */

import { Command } from "@commander-js/extra-typings";
import { printJson, printLine, type Shell } from "../shell.ts";
import { renderTable } from "../table.ts";
import { examples } from "./common.ts";
import { fleetSession, withFleetFile } from "./fleet-options.ts";

export const coordinatorCommand = (shell: Shell) =>
  withFleetFile(
    new Command("coordinator").description("hold fleets of agents in other processes together, until it is stopped"),
    "pools, data folder and NATS server (docs/guide/fleet.md)",
  )
    .option("--status", "ask the running coordinator who is in its pools, and end")
    .addHelpText(
      "after",
      examples(
        ["coxswain coordinator --config coordinator.yaml", "on the NATS server of this machine"],
        ["coxswain coordinator --config coordinator.yaml --status", "members, and who acts for each"],
      ),
    )
    .action(async (options) => {
      const { coordinatorSchema, loadFleetFile } = await import("../fleet/fleet-schema.ts");
      const config = loadFleetFile(coordinatorSchema, { file: options.config, cwd: shell.cwd });
      const { askCoordinators, runCoordinator } = await import("../fleet/run-coordinator.ts");
      const session = fleetSession(shell, options);
      const pools = options.status ? await askCoordinators(session, config) : await runCoordinator(session, config);
      if (options.json) return printJson(shell, pools);
      for (const { pool, state } of pools) {
        printLine(
          shell,
          `${pool}: step ${state.step}, ${state.members.length} members, ${state.unattended.length} functions without one (${state.rules} acts)`,
        );
        if (state.members.length === 0) continue;
        printLine(
          shell,
          renderTable(
            [
              { head: "agent" },
              { head: "incarnation", align: "right" },
              { head: "acted" },
              { head: "on its disk", align: "right" },
            ],
            state.members.map(({ agent, incarnation, actor, kept }) => [
              agent,
              String(incarnation),
              actor,
              String(kept),
            ]),
          ),
        );
      }
    });
