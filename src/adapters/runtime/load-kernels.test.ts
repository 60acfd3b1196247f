import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { loadKernels, tryKernels } from "./load-kernels.ts";
import { vetAddon } from "./native-addon.ts";
import { packageRoot } from "./package-root.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("loadKernels", () => {
  test("begins at the preferred set and never goes above it", () => {
    vi.stubEnv("COXSWAIN_KERNELS", "");
    expect(loadKernels({ prefer: "reference" }).name).toBe("reference");
    expect(loadKernels({ prefer: "wasm" }).name).toBe("wasm");
    expect(loadKernels().name).toBe(tryKernels("native").ok ? "native" : "wasm");
  });

  test("COXSWAIN_KERNELS overrules the caller", () => {
    vi.stubEnv("COXSWAIN_KERNELS", "reference");
    expect(loadKernels({ prefer: "wasm" }).name).toBe("reference");
  });

  test("COXSWAIN_KERNELS with another word is refused", () => {
    vi.stubEnv("COXSWAIN_KERNELS", "gpu");
    expect(() => loadKernels()).toThrowError(expect.objectContaining({ code: "kernels.unknown-set" }));
  });

  test("gives the memory that was asked for", () => {
    expect(loadKernels({ initialMiB: 12 }).memory.f32.byteLength).toBeGreaterThanOrEqual(12 * 1_048_576);
  });
});

describe("the native addon", () => {
  const inFolder = (check: (folder: string) => void) => {
    const folder = temporaryFolder("addon");
    check(folder);
  };

  test("that is not there is absent, not an error", () => {
    expect(vetAddon("/no/such/addon.node")).toMatchObject({ ok: false, failure: { code: "kernels.native-absent" } });
  });

  test("that is no program is unloadable", () => {
    inFolder((folder) => {
      const file = join(folder, "broken.node");
      writeFileSync(file, "not a shared library");
      expect(vetAddon(file)).toMatchObject({ ok: false, failure: { code: expect.stringMatching(/unloadable|unfit/) } });
    });
  });

  // Where it is built, a copy with another fingerprint inside stands for one built from other sources.
  if (!tryKernels("native").ok) return;
  test("built from other sources is stale", () => {
    inFolder((folder) => {
      const kernels = join(packageRoot(), "kernels");
      const { sources } = JSON.parse(readFileSync(join(kernels, "manifest.json"), "utf8")) as { sources: string };
      const bytes = readFileSync(join(kernels, "build", "coxswain-kernels.node"));
      bytes.fill("0", bytes.indexOf(sources), bytes.indexOf(sources) + sources.length);
      const file = join(folder, "stale.node");
      writeFileSync(file, bytes);
      expect(vetAddon(file)).toMatchObject({ ok: false, failure: { code: "kernels.native-stale" } });
    });
  });
});
