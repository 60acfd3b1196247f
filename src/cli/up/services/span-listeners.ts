/**
 * The listeners through which senders bring spans into a running `up`.
 * Owns: that a usual port which another program has is told and no reason to stop, and one that somebody chose is.
 * Not here: what the listeners take (adapters/otlp).
 */
import { type IntakeCounts, openSpanReceiver, type SpanReceiver } from "../../../adapters/otlp/index.ts";
import type { Result } from "../../../base/index.ts";
import { ok } from "../../../base/index.ts";
import type { SpanListeners } from "../../../contract/index.ts";
import { SPAN_DROP_REASONS, type SpanDropReason, type SpanSink } from "../../../observe/telemetry/index.ts";
import type { ServicesSettings, WantedListener } from "./services-messages.ts";

export interface OpenListeners {
  readonly listeners: SpanListeners;
  readonly counts: () => IntakeCounts;
  close(): Promise<void>;
}

interface ListenerOptions {
  readonly sink: SpanSink;
  readonly onDefect: (thrown: unknown) => void;
}

/**
 * A collector on this machine listens on the very same ports and is what spans come from, so a usual port that is taken
 * is nothing unusual. A wrong token or address is always a reason to stop.
 */
export async function openSpanListeners(
  otlp: ServicesSettings["otlp"],
  { sink, onDefect }: ListenerOptions,
): Promise<Result<OpenListeners>> {
  const open: SpanReceiver[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(open.map((one) => one.close()));
  };
  const problems: string[] = [];
  const addresses: { http: string | null; grpc: string | null } = { http: null, grpc: null };
  if (otlp !== null) {
    const { host, tokens } = otlp;
    const at = (port: number | null): string | null => (port === null ? null : `http://${hostInUrl(host)}:${port}`);
    for (const which of ["http", "grpc"] as const) {
      const wanted: WantedListener | null = otlp[which];
      if (wanted === null) continue;
      const ports = {
        httpPort: which === "http" ? wanted.port : null,
        grpcPort: which === "grpc" ? wanted.port : null,
      };
      const opened = await openSpanReceiver({ sink, host, tokens, onDefect, ...ports });
      if (opened.ok) {
        open.push(opened.value);
        addresses[which] = at(opened.value.httpPort ?? opened.value.grpcPort);
      } else if (opened.failure.code === "otlp.bind" && !wanted.isChosen) {
        problems.push(`${opened.failure.message}, with --otlp-${which}-port; the rest goes on without`);
      } else {
        await close();
        return opened;
      }
    }
  }
  return ok({ listeners: { ...addresses, problems }, counts: () => sumOf(open.map((one) => one.counts())), close });
}

const hostInUrl = (host: string): string => (host.includes(":") ? `[${host}]` : host);

function sumOf(all: readonly IntakeCounts[]): IntakeCounts {
  const refused: Record<string, number> = {};
  const dropped = Object.fromEntries(SPAN_DROP_REASONS.map((reason) => [reason, 0])) as Record<SpanDropReason, number>;
  for (const counts of all) {
    for (const [code, count] of Object.entries(counts.refused)) refused[code] = (refused[code] ?? 0) + count;
    for (const reason of SPAN_DROP_REASONS) dropped[reason] += counts.dropped[reason];
  }
  const total = (pick: (counts: IntakeCounts) => number): number => all.reduce((sum, one) => sum + pick(one), 0);
  return { requests: total(({ requests }) => requests), spans: total(({ spans }) => spans), refused, dropped };
}
