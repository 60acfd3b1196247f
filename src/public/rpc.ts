/** `coxswain/rpc`: environments in another process. */

export { connectEnv, recordRemote, serveEnvs } from "../adapters/rpc/index.ts";
