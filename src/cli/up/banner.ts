/**
 * What `coxswain up` says first on a terminal: where to look, what is running, what to try, how to stop.
 * Owns: the words. Not here: when they are printed (run-up.ts), the events after them (log-text.ts).
 */
import { createColors } from "picocolors";

export interface Banner {
  readonly version: string;
  readonly url: string;
  readonly world: { readonly kind: string; readonly speed: number };
  readonly workloads: readonly { readonly workload: string; readonly title: string }[];
  /** They come and go, and share machines. */
  readonly hasFleet: boolean;
  /** The simulated application; null: none. */
  readonly application: string | null;
  /** Addresses that take spans; null: nowhere. */
  readonly spans: { readonly http: string | null; readonly grpc: string | null } | null;
  /** null: nothing is kept. */
  readonly folder: string | null;
  readonly hasDashboard: boolean;
  /** After which it ends by itself, in seconds. */
  readonly duration: number | undefined;
}

/** More would not be read. */
const MOST_NAMED = 6;

export function bannerText(about: Banner, { hasColour }: { readonly hasColour: boolean }): string {
  const colours = createColors(hasColour);
  const tries = triesOf(about);
  const widest = Math.max(...tries.map(([what]) => what.length));
  const rows: readonly (readonly [name: string, text: string])[] = [
    ["open", colours.bold(colours.cyan(about.hasDashboard ? about.url : `${about.url}/v1/overview`))],
    ["world", `${about.world.kind}, up to ${about.world.speed} times faster than real time`],
    ["workloads", named(about.workloads.map(({ title }) => title))],
    ["services", about.application === null ? "none simulated" : `${about.application}, simulated, with its traces`],
    ["spans", spansOf(about.spans)],
    ["data", about.folder ?? "in memory: nothing is kept"],
    ["", ""],
    ...tries.map(([what, how], index) => [index === 0 ? "try" : "", `${what.padEnd(widest)}  ${how}`] as const),
    ["", ""],
    ["stop", stopOf(about)],
  ];
  const lines = rows.map(([name, text]) => (text === "" ? "" : `  ${colours.dim(name.padEnd(10))}  ${text}`));
  const title = `${colours.bold("Coxswain")} ${about.version} is running`;
  return ["", title, "", ...lines, "", colours.dim("What happens is told below."), ""].join("\n");
}

/** Two to four things; what needs no address stands for itself. */
function triesOf({
  url,
  workloads,
  hasFleet,
  application,
  spans,
  hasDashboard,
}: Banner): readonly (readonly [string, string])[] {
  const [first] = workloads;
  if (first === undefined || !hasDashboard) return [["see what the API has", `${url}/openapi.json`]];
  const tries: (readonly [string, string])[] = [
    ...(hasFleet ? [["see who comes and goes", `${url}/fleet`] as const] : []),
    [`watch ${first.title} and its agent`, `${url}/workloads/${first.workload}`],
    ["break it", "choose a fault on that page, press Inject"],
  ];
  if (application !== null || spans !== null) tries.push(["find what holds requests up", `${url}/services`]);
  return tries;
}

function named(titles: readonly string[]): string {
  const rest = titles.length - MOST_NAMED;
  return rest > 0 ? `${titles.slice(0, MOST_NAMED).join(", ")} and ${rest} more` : titles.join(", ");
}

function spansOf(spans: Banner["spans"]): string {
  const open = [
    ...(spans?.http ? [`${spans.http} (OTLP over HTTP)`] : []),
    ...(spans?.grpc ? [`${spans.grpc} (gRPC)`] : []),
  ];
  return open.length === 0 ? "not received" : open.join(", ");
}

function stopOf({ duration, folder }: Banner): string {
  const how = duration === undefined ? "Ctrl-C" : `by itself after ${duration} s, or Ctrl-C`;
  return `${how}${folder === null ? "" : "; the next start goes on from there"}`;
}
