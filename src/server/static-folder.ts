/**
 * A folder of files to be served, read once into memory: no request can reach a file that is not in the list.
 * Owns: reading, content types, packing. Not here: answering (routes/dashboard.ts).
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { gzipSync } from "node:zlib";
import { err, failure, ok, type Result } from "../base/index.ts";
import type { StaticFile, StaticFiles } from "./routes/dashboard.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
};
const PACKED = new Set([".html", ".js", ".css", ".json", ".svg"]);
// The bundler puts a digest into these names.
const HASHED = /^\/assets\/.+-[A-Za-z0-9_-]{8}\.[a-z0-9]+$/;

export function openStaticFolder(folder: string): Result<StaticFiles> {
  try {
    const files = new Map<string, StaticFile>();
    for (const item of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const kind = extname(item.name);
      const type = TYPES[kind];
      if (!item.isFile() || type === undefined) continue;
      const file = join(item.parentPath, item.name);
      const path = `/${relative(folder, file).split(sep).join("/")}`;
      const bytes = new Uint8Array(readFileSync(file));
      const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
      const gzip = PACKED.has(kind) && bytes.byteLength > 1_000 ? new Uint8Array(gzipSync(bytes)) : null;
      files.set(path, { bytes, gzip, type, etag, isImmutable: HASHED.test(path) });
    }
    if (!files.has("/index.html")) throw new Error("it has no index.html");
    return ok({ find: (path) => files.get(path) });
  } catch (cause) {
    const text = `the dashboard's files in '${folder}' cannot be served: ${String((cause as Error).message)}; build the dashboard first`;
    return err(failure("server.dashboard", text, { cause }));
  }
}
