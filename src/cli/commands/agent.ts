/** `coxswain agent`: the agents of one process, members of a fleet that a coordinator holds together over NATS. */

import { Command } from "@commander-js/extra-typings";
import { printJson, printLine, type Shell } from "../shell.ts";
import { examples } from "./common.ts";
import { fleetSession, withFleetFile } from "./fleet-options.ts";

export const agentCommand = (shell: Shell) =>
  withFleetFile(
    new Command("agent").description(
      "run agents of a fleet in this process, until it is stopped; they learn meanwhile",
    ),
    "pool, agents, data folder and NATS server (docs/guide/fleet.md)",
  )
    .addHelpText(
      "after",
      examples(["coxswain agent --config agent.yaml", "join the pool, act, learn, leave on SIGTERM"]),
    )
    .action(async (options) => {
      const { agentSchema, loadFleetFile } = await import("../fleet/fleet-schema.ts");
      const config = loadFleetFile(agentSchema, { file: options.config, cwd: shell.cwd });
      const [{ runAgent }, { openKernels }] = await Promise.all([
        import("../fleet/run-agent.ts"),
        import("../kernels.ts"),
      ]);
      const session = fleetSession(shell, options);
      const summary = await runAgent(session, { config, kernels: openKernels(options.kernels) });
      if (options.json) printJson(shell, summary);
      else
        printLine(
          shell,
          `${summary.agents.length} agents, ${summary.steps} steps, ${summary.transitions} transitions on disk, ${summary.updates} updates`,
        );
    });
