/** Makes sure that there is a Chromium to test with: Debian's, since a browser of Playwright's own is another download. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

export const CHROMIUM = process.env.COXSWAIN_CHROMIUM ?? "/usr/bin/chromium";

export function setup(): void {
  if (existsSync(CHROMIUM)) return;
  const mayInstall = process.getuid?.() === 0 && spawnSync("apt-get", ["--version"]).status === 0;
  if (!mayInstall)
    throw new Error(
      `no browser at ${CHROMIUM}; install the package "chromium" as root, or name another one in COXSWAIN_CHROMIUM`,
    );
  const apt = (...args: string[]): unknown =>
    execFileSync("apt-get", ["-o", "DPkg::Lock::Timeout=300", "-qq", ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      stdio: ["ignore", "ignore", "inherit"],
    });
  apt("update");
  apt("install", "-y", "--no-install-recommends", "chromium");
}
