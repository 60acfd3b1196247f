/** Options of commands that go to a work queue: how its NATS server lets them in. */

import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Command, OptionValues } from "@commander-js/extra-typings";
import { CodedError, failure } from "../../base/index.ts";
import type { Shell } from "../shell.ts";
import type { QueueAccess } from "../work/open-queue.ts";

export const withQueueAccess = <A extends unknown[], O extends OptionValues>(command: Command<A, O>) =>
  command
    .option("--creds <file>", "credentials for the NATS server, as its tools write them")
    .option("--ca <file>", "certificates that sign the NATS server's own")
    .option("--trust-network", "reach another machine's NATS server without encryption");

export interface QueueAccessOptions {
  readonly creds?: string | undefined;
  readonly ca?: string | undefined;
  readonly trustNetwork?: true | undefined;
}

export function queueAccess(
  shell: Shell,
  server: string,
  { creds, ca, trustNetwork }: QueueAccessOptions,
): QueueAccess {
  const absolute = (path: string) => (isAbsolute(path) ? path : join(shell.cwd, path));
  return {
    servers: server.split(","),
    ...(creds === undefined ? {} : { access: { kind: "credentials", content: contentOf(absolute(creds)) } as const }),
    ...(ca === undefined ? {} : { tls: { caFile: absolute(ca) } }),
    allowPlain: trustNetwork ?? false,
  };
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new CodedError(failure("file.missing", `${file} cannot be read; check the path`, { cause }));
  }
}
