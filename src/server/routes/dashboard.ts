/**
 * The dashboard's files.
 * Owns: the port to them, caching, how a path finds its file, and how an address without '#' finds its view.
 * Not here: reading the files (static-folder.ts).
 */
import { dashboardViews } from "../../contract/index.ts";
import type { HonoApp } from "../endpoint.ts";

export interface StaticFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Null where packing gains nothing. */
  readonly gzip: Uint8Array<ArrayBuffer> | null;
  readonly type: string;
  readonly etag: string;
  /** Its name changes with its content. */
  readonly isImmutable: boolean;
}

export interface StaticFiles {
  /** By path, as in a URL: `/assets/page.js`. */
  find(path: string): StaticFile | undefined;
}

export function addDashboard(app: HonoApp, files: StaticFiles): void {
  app.get("/*", async (c, next) => {
    const file = files.find(c.req.path.endsWith("/") ? `${c.req.path}index.html` : c.req.path);
    if (file === undefined) {
      const view = viewAddress(new URL(c.req.url).pathname);
      return view === undefined ? next() : c.redirect(view);
    }
    const headers: Record<string, string> = {
      "content-type": file.type,
      "cache-control": file.isImmutable ? "public, max-age=31536000, immutable" : "no-cache",
      etag: file.etag,
      vary: "accept-encoding",
    };
    if (c.req.header("if-none-match") === file.etag) return new Response(null, { status: 304, headers });
    const isPacked = file.gzip !== null && /\bgzip\b/.test(c.req.header("accept-encoding") ?? "");
    if (isPacked) headers["content-encoding"] = "gzip";
    return new Response(isPacked ? file.gzip : file.bytes, { headers });
  });
}

const VIEW = new RegExp(`^/((?:${dashboardViews.join("|")})(?:/[^/]+)?)/?$`);

/**
 * The page's own address of `/workloads/web-shop`, which people type: `../#/workloads/web-shop`. Relative, so that it holds
 * below a prefix, and escaped as it came.
 */
function viewAddress(path: string): string | undefined {
  const view = VIEW.exec(path)?.[1];
  if (view === undefined) return undefined;
  const up = path.split("/").length - 2;
  return `${up === 0 ? "./" : "../".repeat(up)}#/${view}`;
}
