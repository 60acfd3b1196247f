/** Options of commands that go to a work queue: how its NATS server lets them in. */

import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Command, OptionValues } from "@commander-js/extra-typings";
import { usageError } from "../failures.ts";
import type { Shell } from "../shell.ts";
import type { QueueAccess } from "../work/open-queue.ts";

export const withQueueAccess = <A extends unknown[], O extends OptionValues>(command: Command<A, O>) =>
  command
    .option("--credentials-file <file>", "credentials for the NATS server, as its tools write them")
    .option("--nats-token-file <file>", "a file with the token that the NATS server wants")
    .option("--ca-file <file>", "certificates that sign the NATS server's own")
    .option("--trusted-network", "reach another machine's NATS server without encryption");

export interface QueueAccessOptions {
  readonly credentialsFile?: string | undefined;
  readonly natsTokenFile?: string | undefined;
  readonly caFile?: string | undefined;
  readonly trustedNetwork?: true | undefined;
}

export function queueAccess(shell: Shell, server: string, options: QueueAccessOptions): QueueAccess {
  const { credentialsFile, natsTokenFile, caFile, trustedNetwork = false } = options;
  if (credentialsFile !== undefined && natsTokenFile !== undefined)
    throw usageError("--credentials-file and --nats-token-file are both given", "the server wants one of them");
  const absolute = (path: string) => (isAbsolute(path) ? path : join(shell.cwd, path));
  const text = (path: string) => readFileSync(absolute(path), "utf8");
  return {
    servers: server.split(","),
    ...(credentialsFile === undefined
      ? {}
      : { access: { kind: "credentials", content: text(credentialsFile) } as const }),
    ...(natsTokenFile === undefined ? {} : { access: { kind: "token", token: text(natsTokenFile).trim() } as const }),
    ...(caFile === undefined ? {} : { tls: { caFile: absolute(caFile) } }),
    allowPlain: trustedNetwork,
  };
}
