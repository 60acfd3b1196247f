/** The dashboard's bundle: what a browser loads before the first paint, compressed as a server would. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const LOADED = /\.(?:html|js|css|svg|woff2)$/;

/** Bytes, gzipped at level 9, of all that the page may load; nothing where the dashboard was not built. */
export async function bundleBytes(folder: string): Promise<number | undefined> {
  if (!existsSync(join(folder, "index.html"))) return undefined;
  const names = (await readdir(folder, { recursive: true })).filter(
    // Figures of studies are shown on a page of their own, when asked for.
    (name) => LOADED.test(name) && !name.startsWith("results"),
  );
  const sizes = await Promise.all(
    names.map(async (name) => gzipSync(await readFile(join(folder, name)), { level: 9 }).length),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
