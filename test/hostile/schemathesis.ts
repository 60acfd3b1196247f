/** Schemathesis, which makes requests from an OpenAPI document: of one version. Not here: what it is pointed at (api.test.ts). */
import { join } from "node:path";
import { pythonTool } from "../fixtures/python/python-tool.ts";

const VERSION = "4.32.5";

type Tool = { readonly path: string } | { readonly why: string };

export async function schemathesis(): Promise<Tool> {
  const tool = await pythonTool(`schemathesis-${VERSION}`, [`schemathesis==${VERSION}`]);
  return "why" in tool ? tool : { path: join(tool.bin, "schemathesis") };
}
