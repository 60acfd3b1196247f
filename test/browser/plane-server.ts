/** The real server over a scripted control plane, with a built dashboard, on loopback. */
import {
  openServer,
  openStaticFolder,
  openStudyFolder,
  type PoolShelf,
  type RunningServer,
  type Token,
} from "../../src/server/index.ts";
import { type ScriptedPlane, scriptedPlane } from "./scripted-plane.ts";

export interface Served {
  readonly url: string;
  readonly plane: ScriptedPlane;
  /** What the server itself got wrong. */
  readonly defects: readonly unknown[];
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly folder: string;
  readonly port?: number;
  readonly tokens?: readonly Token[];
  /** Where published studies lie; without it the server has none. */
  readonly studies?: string;
  /** What a shared model was trained on; without it there is none. */
  readonly pool?: PoolShelf;
  readonly script?: Parameters<typeof scriptedPlane>[0];
}

export async function servePlane(options: ServeOptions): Promise<Served> {
  const { folder, port = 0, tokens = [], script = {}, studies, pool } = options;
  const files = openStaticFolder(folder);
  if (!files.ok) throw new Error(files.failure.message);
  const plane = scriptedPlane(script);
  const defects: unknown[] = [];
  const opened = await openServer({
    plane,
    options: {
      port,
      tokens,
      version: "test",
      audit: () => {},
      onDefect: (thrown) => defects.push(thrown),
      dashboard: files.value,
      ...(studies === undefined ? {} : { studies: openStudyFolder(studies) }),
      ...(pool === undefined ? {} : { pool }),
      requireIfMatch: true,
    },
  });
  if (!opened.ok) throw new Error(opened.failure.message);
  const server: RunningServer = opened.value;
  return {
    url: server.url,
    plane,
    defects,
    async close() {
      plane.close();
      await server.close({ graceMs: 200 });
    },
  };
}
