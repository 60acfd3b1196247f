/**
 * What can be wrong with the addresses, ports and tokens of `up`, said before anything is opened.
 * Owns: which port needs which role of the token file, and trying each address for a moment.
 * Not here: the token file (cli/token-file.ts), the listeners themselves (server, services/span-listeners.ts).
 */
import { isLoopbackAddress, seconds, unwrap } from "../../base/index.ts";
import { NameTable, type SpanSink } from "../../observe/telemetry/index.ts";
import { type Token, tryAddress } from "../../server/index.ts";
import type { Shell } from "../shell.ts";
import { readTokenFile, tokensOf } from "../token-file.ts";
import type { ServicesSettings } from "./services/services-messages.ts";

type Listeners = NonNullable<ServicesSettings["otlp"]>;

export interface WantedPorts {
  readonly host: string;
  readonly port: number;
  readonly tokenFile?: string | undefined;
  readonly otlp: Omit<Listeners, "tokens"> | null;
}

export interface CheckedPorts {
  /** Of those who ask the API. */
  readonly tokens: readonly Token[];
  readonly otlp: Listeners | null;
}

/** What it has found out is true for a moment only: a port may still be taken before it is opened, and is then told so. */
export async function checkPorts(shell: Pick<Shell, "cwd">, wanted: WantedPorts): Promise<CheckedPorts> {
  const { host, port } = wanted;
  const file = readTokenFile(shell, wanted.tokenFile);
  const tokens = tokensOf(file, { roles: ["viewer", "operator"], port: "the API" });
  const otlp = wanted.otlp && {
    ...wanted.otlp,
    tokens: tokensOf(file, {
      roles: ["sender"],
      port: "the port for spans",
      instead: "take no spans with --no-otlp",
    }).map(({ secret }) => secret),
  };
  const held = unwrap(await tryAddress({ host, port, tokens }));
  try {
    if (otlp !== null && canBeRefused(otlp)) await trySpans(otlp);
  } finally {
    await held.release();
  }
  return { tokens, otlp };
}

/** With the usual ports on loopback and no tokens nothing is: a usual port that is taken is no reason to stop. */
const canBeRefused = ({ host, tokens, http, grpc }: Listeners): boolean =>
  tokens.length > 0 || !isLoopbackAddress(host) || http?.isChosen === true || grpc?.isChosen === true;

async function trySpans(otlp: Listeners): Promise<void> {
  const { openSpanListeners } = await import("./services/span-listeners.ts");
  const nobody: SpanSink = { names: new NameTable(), offer: () => ({ kind: "busy", retryAfter: seconds(1) }) };
  const opened = unwrap(await openSpanListeners(otlp, { sink: nobody, onDefect: () => undefined }));
  await opened.close();
}
