/**
 * Environments between processes. Start reading at proto/coxswain/env/v1/env.proto, then hosted-session.ts (the host's
 * side) and remote-env.ts (the player's).
 */
export type { EnvServer, EnvServerOptions } from "./env-server.ts";
export { serveEnvs } from "./env-server.ts";
export type { HostedWorld } from "./hosted-session.ts";
export { recordRemote } from "./record-remote.ts";
export type { RemoteEnvOptions } from "./remote-env.ts";
export { connectEnv } from "./remote-env.ts";
