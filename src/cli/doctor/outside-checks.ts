/** What later parts, suites and benches can use of this machine. None of it is needed to run coxswain. */

import { existsSync, readFileSync } from "node:fs";
import { ask, type Check, type Finding, programCheck } from "./finding.ts";

export function cgroupsCheck(): Finding {
  const base = { id: "cgroups", what: "control groups" };
  const controllers = "/sys/fs/cgroup/cgroup.controllers";
  if (existsSync(controllers)) {
    return {
      ...base,
      status: "ok",
      found: `version 2 (${readFileSync(controllers, "utf8").trim() || "no controllers"})`,
    };
  }
  if (existsSync("/sys/fs/cgroup/cpu")) {
    return {
      ...base,
      status: "ok",
      found: "version 1",
      advice: "version 2 has all limits in one tree; boot with systemd.unified_cgroup_hierarchy=1",
    };
  }
  return {
    ...base,
    status: "absent",
    found: "not mounted",
    advice: "live limits need Linux with cgroups; simulated worlds do not",
  };
}

export const pythonCheck: Check = async () => {
  const base = { id: "python", what: "Python" };
  const version = await ask("python3", ["--version"]);
  if (version === undefined) {
    return { ...base, status: "absent", found: "not found", advice: "install python3; benches compare with PyTorch" };
  }
  return { ...base, status: "ok", found: version };
};

export const torchCheck: Check = async () => {
  const base = { id: "torch", what: "PyTorch (peer of the benches)" };
  const version = await ask("python3", ["-c", "import torch; print(torch.__version__)"]);
  if (version === undefined) {
    return {
      ...base,
      status: "absent",
      found: "not importable by python3",
      advice: "`coxswain bench engine --setup-peers` makes an environment that has it",
    };
  }
  return { ...base, status: "ok", found: version };
};

export const programChecks: readonly Check[] = [
  programCheck({
    id: "compiler",
    what: "C compiler",
    programs: ["cc", "clang", "gcc"],
    args: ["--version"],
    advice: "install gcc or clang to build the native kernels; the wasm ones need none",
  }),
  programCheck({
    id: "chromium",
    what: "Chromium (browser tests)",
    programs: ["chromium", "chromium-browser", "google-chrome"],
    args: ["--version"],
    advice: "install chromium to run `npm run test:browser`",
  }),
  programCheck({
    id: "influxd",
    what: "InfluxDB (service tests)",
    programs: ["influxd"],
    args: ["version"],
    advice: "install the package influxdb to run `npm run test:services`, or let that suite do it",
  }),
  programCheck({
    id: "tc",
    what: "traffic control (tc)",
    programs: ["tc", "/usr/sbin/tc", "/sbin/tc"],
    args: ["-V"],
    advice: "install iproute2 to limit network bandwidth in live worlds",
  }),
  programCheck({
    id: "perf",
    what: "hardware counters (perf)",
    programs: ["perf"],
    args: ["--version"],
    advice: "install linux-perf to read memory bandwidth and cache misses",
  }),
  programCheck({
    id: "kubectl",
    what: "kubectl",
    programs: ["kubectl"],
    args: ["version", "--client"],
    advice: "install kubectl to work with a cluster",
  }),
];
