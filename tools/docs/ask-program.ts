/**
 * What the command line says about itself, asked as a user would: so a page made of it needs nothing of the sources.
 * Not here: the page (configuration.ts).
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import type { Schema, Sources } from "./configuration.ts";

export const CONFIGURATION_PAGE = "docs/guide/configuration.md";

export const coxswain = (...args: readonly string[]): string =>
  execFileSync(process.execPath, ["bin/coxswain", ...args], { encoding: "utf8", env: plainEnvironment() });

/** Variables of the person who runs the check must not change what the page says. */
function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("COXSWAIN_")));
}

/** All that a profile needs, and nothing else. */
const LEAST_PROFILE = `workload: least
slo: { latency: { targetMs: 250 } }
bounds:
  replicas: { max: 12 }
  cpu: { min: 100m, max: 4 }
  memory: { min: 128Mi, max: 2Gi }
`;

export function askProgram(): Sources {
  const schema = (...more: readonly string[]) => JSON.parse(coxswain("config", "schema", ...more)) as Schema;
  return {
    settings: schema(),
    profile: schema("--profile"),
    profileDefaults: profileDefaults(),
    upHelp: coxswain("up", "--help"),
  };
}

function profileDefaults(): Readonly<Record<string, unknown>> {
  const folder = mkdtempSync(join(tmpdir(), "coxswain-profile-"));
  try {
    const file = join(folder, "least.yaml");
    writeFileSync(file, LEAST_PROFILE);
    return parse(coxswain("config", "profile", file)) as Readonly<Record<string, unknown>>;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
