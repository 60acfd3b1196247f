/** Builds the page. The published results (docs/results) are copied beside it, with an index that the page reads. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const RESULTS = process.env.COXSWAIN_RESULTS ?? fileURLToPath(new URL("../docs/results/", import.meta.url));

function publishedResults(): Plugin {
  return {
    name: "published-results",
    generateBundle() {
      const files = existsSync(RESULTS) ? readdirSync(RESULTS).filter((name) => /\.(?:json|svg)$/.test(name)) : [];
      for (const name of files)
        this.emitFile({ type: "asset", fileName: `results/${name}`, source: readFileSync(`${RESULTS}/${name}`) });
      this.emitFile({ type: "asset", fileName: "results/index.json", source: JSON.stringify(files.sort()) });
    },
  };
}

export default defineConfig({
  // Relative addresses: the page works from any path, and from a folder served by anything.
  base: "./",
  plugins: [publishedResults()],
  build: { outDir: "dist", emptyOutDir: true, target: "es2022" },
});
