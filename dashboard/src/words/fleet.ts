/**
 * What is to be said about a fleet, in sentences: who is there, who misses, who is in whose way.
 * Owns: how losses are added up. Pure.
 */
import type {
  FleetDocument,
  FleetHost,
  FleetLately,
  FleetLoss,
  FleetMember,
  ServiceResource,
} from "../../../src/contract/index.ts";
import { percent, shortClock } from "./format.ts";

/** What every part of its page shows. */
export interface FleetProps {
  readonly fleet: FleetDocument;
  readonly titleOf: (workload: string) => string;
}

/** What is shared on a machine: network and storage are one there. */
const sharedWord: Readonly<Record<ServiceResource, string>> = {
  cpu: "CPU",
  memory: "memory bandwidth",
  llc: "cache",
  io: "network and storage",
  network: "network",
};

/** Less than that nobody feels. */
export const NOTICED = 0.01;

/** Of its speed on one machine, over all resources. */
export interface LostTo {
  /** null: to containers that are being started. */
  readonly by: string | null;
  readonly share: number;
  /** The resources, the most wanted first, in words. */
  readonly of: string;
}

export interface Lost {
  readonly share: number;
  /** All of the resources, as above. */
  readonly of: string;
  /** The most first. */
  readonly to: readonly LostTo[];
}

/** null where the world does not tell. */
export function lostBy(workload: string, { losses }: Pick<FleetHost, "losses">): Lost | null {
  if (losses === null) return null;
  const own = losses.filter((loss) => loss.workload === workload);
  const to = [...new Set(own.map(({ by }) => by))].map((by): LostTo => {
    const theirs = own.filter((loss) => loss.by === by);
    return { by, share: shareOf(theirs), of: resourcesOf(theirs) };
  });
  return { share: shareOf(own), of: resourcesOf(own), to: to.sort((a, b) => b.share - a.share) };
}

const shareOf = (losses: readonly FleetLoss[]): number => losses.reduce((sum, { share }) => sum + share, 0);

/** What is hardly a part of it would only make the sentence longer. */
function resourcesOf(losses: readonly FleetLoss[]): string {
  const all = shareOf(losses);
  const by = new Map<ServiceResource, number>();
  for (const { resource, share } of losses) by.set(resource, (by.get(resource) ?? 0) + share);
  return [...by]
    .filter(([, share]) => share >= all / 5)
    .sort(([, a], [, b]) => b - a)
    .map(([resource]) => sharedWord[resource])
    .join(" and ");
}

export interface InTheWay {
  readonly host: string;
  readonly workload: string;
  readonly by: string;
  readonly share: number;
  readonly of: string;
}

/** Who is in another's way, the most first. */
export function inTheWay({ hosts }: Pick<FleetDocument, "hosts">): readonly InTheWay[] {
  return (hosts ?? [])
    .flatMap((host) =>
      host.tenants.flatMap(({ workload }) =>
        (lostBy(workload, host)?.to ?? []).flatMap(({ by, share, of }) =>
          by === null || by === workload ? [] : [{ host: host.name, workload, by, share, of }],
        ),
      ),
    )
    .sort((a, b) => b.share - a.share);
}

type Judged = Pick<FleetMember, "attainment" | "isPresent" | "lately">;

/** More often lately than its error budget allows: one that missed a step of thirty need not be missing its SLO. */
export const missesSlo = ({ attainment, isPresent, lately: { steps, missed } }: Judged): boolean =>
  isPresent && steps > 0 && missed > (1 - attainment) * steps + 1e-9;

interface Named {
  readonly fleet: FleetDocument;
  /** All of them: "functions". */
  readonly noun: string;
}

/** The one sentence on top. */
export function fleetHeadline({ fleet, noun }: Named): string {
  const { members } = fleet;
  const here = members.filter(({ isPresent }) => isPresent);
  const missing = here.filter(missesSlo).length;
  const are = here.length === 1 ? "is" : "are";
  const who = here.length === members.length ? `All ${members.length}` : `${here.length} of ${members.length}`;
  const miss = missing === 0 ? "all keep their SLO" : `${missing} ${missing === 1 ? "misses its" : "miss their"} SLO`;
  return `${who} ${noun} ${are} here, ${miss}`;
}

/** Who is away, and since when; empty where nobody is. */
export function awayWords({ members }: Pick<FleetDocument, "members">): string {
  const away = members.filter(({ isPresent }) => !isPresent);
  if (away.length === 0) return "Nobody is away.";
  return `Away: ${away.map(({ title, since }) => `${title} since ${shortClock(since)}`).join(", ")}.`;
}

/** The worst of it; null where the world does not tell. */
export function worstWords(fleet: Pick<FleetDocument, "hosts">, titleOf: (workload: string) => string): string | null {
  if (fleet.hosts === null || fleet.hosts.every(({ losses }) => losses === null)) return null;
  const [worst] = inTheWay(fleet);
  if (worst === undefined || worst.share < NOTICED) return "Nobody is noticeably in another's way.";
  const { by, workload, share, host, of } = worst;
  return `Most in the way: ${titleOf(by)} costs ${titleOf(workload)} ${percent(share)} of its speed on ${host} (${of}).`;
}

/** "here since 06:25, joined 2 times". */
export function presenceWords({ isPresent, since, joins }: Pick<FleetMember, "isPresent" | "since" | "joins">): string {
  const when = `${isPresent ? "here" : "away"} since ${shortClock(since)}`;
  return joins > 1 ? `${when}, came ${joins} times` : when;
}

/** "missed 16 of 30 steps, twin 17"; empty before the first. */
export function missedWords({ lately, twin }: Pick<FleetMember, "lately" | "twin">): string {
  if (lately.steps === 0) return "";
  const own = `missed ${lately.missed} of ${lately.steps} steps`;
  return twin === null || twin.steps === 0 ? own : `${own}, twin ${twin.missed}`;
}

/** The names of what is used, in the order in which members have them. */
export const usedNames = (members: readonly { readonly lately: FleetLately }[]): readonly string[] => [
  ...new Set(members.flatMap(({ lately }) => Object.keys(lately.use))),
];

/** "CPU", "Memory". */
export const useTitle = (name: string): string =>
  name === "cpu" ? "CPU" : `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
