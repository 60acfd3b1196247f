/**
 * What this process computes with, as work queues compare it: two that agree come to the same bytes for the same job.
 * It is stricter than the fingerprint of a kept job (cli/studies/fingerprint.ts), which misses helpers of studies: a worker
 * was started by somebody else, who cannot be told to use --fresh.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { WorkBuild } from "../../adapters/nats/index.ts";
import { type KernelChoice, openKernels } from "../kernels.ts";
import { packageVersion } from "../package-info.ts";
import { codeHash } from "../studies/fingerprint.ts";

/** All that a job of a study, or a pre-training, may run. Those without tests and texts, so the compiled form counts. */
const WORKING_FOLDERS = [
  ...["base", "contract", "learn", "observe", "act", "sim", "control", "pretraining", "studies"],
  ...["adapters/datasets", "adapters/runtime", "cli/pretraining", "cli/studies"],
];

export function ownBuild(kernels: KernelChoice, modules: readonly string[]): WorkBuild {
  return {
    version: packageVersion(),
    sources: codeHash(WORKING_FOLDERS).slice(0, 16),
    kernels: openKernels(kernels).name,
    engine: `v8 ${process.versions.v8}`,
    arch: process.arch,
    // Their content and not their place, which is another on every machine. What they import is not looked at.
    modules: modules.length === 0 ? "" : digest(modules.map((file) => digest(readFileSync(file))).sort()),
  };
}

const digest = (content: Uint8Array | readonly string[]): string =>
  createHash("sha256")
    .update(content instanceof Uint8Array ? content : content.join("\n"))
    .digest("hex")
    .slice(0, 16);

const words: { readonly [part in keyof WorkBuild]: string } = {
  version: "version",
  sources: "sources",
  kernels: "kernels",
  engine: "JavaScript engine",
  arch: "processor architecture",
  modules: "modules",
};

/** In a few words, where they differ first. */
export function differenceOf(theirs: WorkBuild, ours: WorkBuild): string {
  const parts = Object.keys(words) as readonly (keyof WorkBuild)[];
  const part = parts.find((name) => theirs[name] !== ours[name]);
  if (part === undefined) return "nothing";
  const shown = (text: string) => (text === "" ? "none" : text);
  return `other ${words[part]} (${shown(theirs[part])}, here ${shown(ours[part])})`;
}
