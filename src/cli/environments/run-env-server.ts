/**
 * `coxswain env serve` from start to end.
 * Owns: opening and closing the host, and its output, an address a line. Not here: the protocol (adapters/rpc).
 */
import { serveEnvs } from "../../adapters/rpc/index.ts";
import { unwrap } from "../../base/index.ts";
import { makeEnv } from "../../learn/env/index.ts";
import { printJson, printLine, type Session } from "../shell.ts";
import { readTokenFile, tokensOf } from "../token-file.ts";
import { untilStopped } from "../until-stopped.ts";
import { isFleetId, knownEnvs, knownFleets, loadEnv, loadFleet } from "./catalog.ts";

export interface EnvServerSettings {
  readonly host: string;
  readonly port: number;
  readonly callPort?: number | undefined;
  readonly tokenFile?: string | undefined;
  readonly maxSessions: number;
  readonly json?: boolean | undefined;
}

export async function runEnvServer(session: Session, settings: EnvServerSettings): Promise<void> {
  const { host, port, callPort, maxSessions } = settings;
  const file = readTokenFile(session, settings.tokenFile);
  const players = tokensOf(file, { roles: ["player"], port: "the port for environments" });
  const server = unwrap(
    await serveEnvs({
      host,
      port,
      ...(callPort === undefined ? {} : { callPort }),
      maxSessions,
      tokens: players.map(({ secret }) => secret),
      open: async (id, config) => {
        if (isFleetId(id)) return loadFleet(id, config);
        await loadEnv(id);
        return makeEnv<unknown, unknown>(id, { config });
      },
      onDefect: (thrown) => session.log.error({ err: thrown }, "defect in an environment that is played"),
    }),
  );
  try {
    const { url, callUrl } = server;
    const environments = [...knownEnvs(), ...knownFleets()].map(({ id }) => id);
    if (settings.json) printJson(session, { url, ...(callUrl === undefined ? {} : { callUrl }), environments });
    else for (const line of [url, callUrl]) if (line !== undefined) printLine(session, line);
    await untilStopped(session);
  } finally {
    session.log.info({ sessions: server.sessions }, "stopping; sessions are given up");
    await server.close();
  }
}
