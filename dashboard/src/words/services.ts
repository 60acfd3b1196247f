/** What is to be said about services, in sentences. Pure. */
import type {
  ActingDocument,
  AgentDocument,
  AnomalyKind,
  RemedyDocument,
  ServiceResource,
  ServicesDocument,
  SuspectsDocument,
} from "../../../src/contract/index.ts";
import { stages } from "../../../src/contract/index.ts";
import { stageWord } from "./consequences.ts";
import { commonTitle } from "./fallback.ts";
import { brief, elapsed, latency } from "./format.ts";

export const resourceWord: Readonly<Record<ServiceResource, string>> = {
  cpu: "CPU",
  memory: "memory bandwidth",
  llc: "cache",
  io: "disk bandwidth",
  network: "network bandwidth",
};

export const resourceUnit: Readonly<Record<ServiceResource, string>> = {
  cpu: "cores",
  memory: "MB/s",
  llc: "MiB",
  io: "MB/s",
  network: "MB/s",
};

export const anomalyWord: Readonly<Record<AnomalyKind, string>> = {
  "workload-variation": "More requests",
  "network-delay": "Network delay",
  cpu: "CPU stress",
  llc: "Cache stress",
  "memory-bandwidth": "Memory bandwidth stress",
  "io-bandwidth": "Disk stress",
  "network-bandwidth": "Network bandwidth stress",
};

type Simulated = NonNullable<ServicesDocument["simulated"]>;

type Acting = Pick<AgentDocument, "acting" | "stage" | "fallback">;

/** Who decides about limits and replicas, and whether it is done. */
export function chargeOf(
  { mode, waitsFor }: Pick<ActingDocument, "mode" | "waitsFor">,
  agents: readonly Acting[],
): string {
  if (mode === "observe") return "Only observing: nobody changes anything. What would be done is still shown.";
  if (agents.length === 0) return `Kubernetes autoscaling is in charge: ${waitsFor ?? "the agents begin now"}.`;
  const learners = agents.filter(({ acting }) => acting === "learner").length;
  const fallback = commonTitle(agents.map((agent) => agent.fallback));
  if (learners === 0) return `${fallback} is in charge: the agents still learn from it (${stageCounts(agents)}).`;
  const others = learners === agents.length ? "" : ` ${fallback} has the others. Stages: ${stageCounts(agents)}.`;
  const of = learners === agents.length ? `all ${learners}` : `${learners} of ${agents.length}`;
  return `The learner is in charge of ${of} services: it gives a culprit what it lacks.${others}`;
}

/** "7 Offline, 3 Serving". */
const stageCounts = (agents: readonly Pick<AgentDocument, "stage">[]): string =>
  stages
    .map((stage) => [agents.filter((agent) => agent.stage === stage).length, stageWord[stage]] as const)
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(", ");

interface SummedService {
  readonly title: string;
  readonly isInTrouble: boolean;
  readonly agent: Pick<AgentDocument, "stage"> | undefined;
}

/** All of them in two sentences, for a page that is about something else. */
export function servicesSummary(services: readonly SummedService[]) {
  const troubled = services.filter(({ isInTrouble }) => isInTrouble).map(({ title }) => title);
  const agents = services.flatMap(({ agent }) => agent ?? []);
  return {
    isInTrouble: troubled.length > 0,
    text:
      troubled.length === 0
        ? `None of ${services.length} services holds up requests beyond their SLOs.`
        : `${listed(troubled)} ${troubled.length === 1 ? "holds" : "hold"} up requests beyond their SLOs.`,
    stages: agents.length === 0 ? "" : `Agents: ${stageCounts(agents)}.`,
  };
}

/** "The learner gave user-0 more: CPU 0.6 → 2.1 cores." */
export function remedyOf({ by, isDone, instance, service, changes }: RemedyDocument): string {
  const who = by === "learner" ? "The learner" : "Kubernetes autoscaling";
  const words = changes.map(({ what, from, to }) =>
    what === "replicas"
      ? `replicas ${from} → ${to}`
      : `${resourceWord[what]} ${brief(from)} → ${brief(to)} ${resourceUnit[what]}`,
  );
  return `${who} ${isDone ? "changed" : "would change"} ${instance ?? service}: ${words.join(", ")}.`;
}

/** Whether it helped, by the SLOs and by the localizer's own check of the milliseconds it expected. */
export function outcomeOf({ isDone, from, endedAt, requests, saving }: RemedyDocument): string {
  const promised = requests.length === 0 ? "the SLOs" : `the SLO of ${listed(requests)}`;
  // What ended the violation in its place is not known: perhaps a person let somebody act.
  if (!isDone) return "It was not done.";
  const slo =
    endedAt === null ? `Not mended yet: ${promised}.` : `Mended within ${elapsed(endedAt - from)}: ${promised}.`;
  if (saving === null) return slo;
  const less = saving.measuredMs >= 0 ? "less" : "more";
  return `${slo} A request took ${latency(Math.abs(saving.measuredMs))} ${less} afterwards; ${latency(saving.expectedMs)} less were expected.`;
}

/** Types of requests whose 99th percentile is above their SLO, or that fail. */
export const brokenRequests = (simulated: Simulated | null): readonly string[] =>
  (simulated?.requests ?? [])
    .filter(({ p99Ms, sloMs, failed, offered }) => (p99Ms !== null && p99Ms > sloMs) || failed > 0.01 * offered)
    .map(({ request }) => request);

/** The one sentence on top. */
export function headlineOf({ simulated, counts }: ServicesDocument, suspects: SuspectsDocument): string {
  const culprits = suspects.items.filter(({ isCulprit }) => isCulprit);
  const [worst] = culprits;
  const broken = brokenRequests(simulated);
  if (worst !== undefined && (simulated === null || broken.length > 0)) {
    const others = culprits.length > 1 ? `, and ${culprits.length - 1} more are suspected` : "";
    const saves =
      worst.expectedSavingMs > 0 ? `; mending it would save ${latency(worst.expectedSavingMs)} a request` : "";
    return `${worst.instance} holds up ${worst.request}: it lacks ${resourceWord[worst.resource]}${saves}${others}`;
  }
  if (broken.length > 0)
    return `${listed(broken)} ${broken.length === 1 ? "misses its" : "miss their"} SLO; nobody is to blame beyond doubt yet`;
  if (simulated !== null) return "Every type of request keeps its SLO";
  if (counts.storedTraces === 0 && counts.waiting === 0) return "No spans have come yet";
  return "Nobody is to blame beyond doubt";
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
