/** `coxswain inject`: a campaign of anomalies on a simulated application, and what it did. */

import { Command } from "@commander-js/extra-typings";
import { createProgress } from "../progress.ts";
import { printJson, type Shell } from "../shell.ts";
import { examples, withJson } from "./common.ts";
import { wholeNumberOrZero } from "./numbers.ts";

export const injectCommand = (shell: Shell) =>
  withJson(new Command("inject").description("run a campaign of anomalies on a simulated application"))
    .argument("<campaign>", "YAML file: application, load, injections (docs/guide/injecting.md)")
    .option("--seed <n>", "another seed than the file's", wholeNumberOrZero)
    .option("--no-labels", "do not look for the intensity from which each injection alone breaks the SLO")
    .addHelpText(
      "after",
      examples(
        ["coxswain inject examples/campaign.yaml", "seven anomalies, and which of them are culprits"],
        ["coxswain inject my.yaml --json > truth.json", "ground truth for a classifier"],
        ["coxswain inject my.yaml --no-labels", "only what happened, sooner"],
      ),
    )
    .action(async (file, options) => {
      const [{ loadCampaign }, { runInject }, { outcomeJson, printOutcome }] = await Promise.all([
        import("../inject/campaign-file.ts"),
        import("../inject/run-inject.ts"),
        import("../inject/report.ts"),
      ]);
      const campaign = loadCampaign(file, { cwd: shell.cwd, seed: options.seed });
      const progress = createProgress(shell, "inject");
      const outcome = await runInject({
        campaign,
        hasLabels: options.labels,
        signal: shell.signal,
        onProgress: (fraction, note) => progress.update({ fraction, note }),
      }).finally(() => progress.clear());
      if (options.json) printJson(shell, outcomeJson(campaign, outcome));
      else printOutcome(shell, campaign, outcome);
    });
