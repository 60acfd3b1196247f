/**
 * One campaign on the simulated world, with labels.
 * Owns: the worlds it takes, what is kept of what happened. Not here: words and tables (report.ts).
 */
import { type Injection, type Label, labelOf, targetName } from "../../act/faults/index.ts";
import type { Ms } from "../../base/index.ts";
import {
  type ApplicationTruth,
  breaksSlo,
  type CampaignVerdict,
  isolatedSlos,
  microserviceWorld,
  missed,
  runCampaign,
  thresholdOf,
} from "../../sim/index.ts";
import type { Campaign } from "./campaign-schema.ts";

export interface InjectOptions {
  readonly campaign: Campaign;
  /** Whether the intensity from which each injection alone breaks the SLO is looked for. */
  readonly hasLabels: boolean;
  /** From 0 to 1, with what is being done. */
  readonly onProgress: (fraction: number, note: string) => void;
  readonly signal: AbortSignal;
}

export interface SecondOfCampaign {
  readonly second: number;
  readonly arrived: number;
  readonly missed: number;
  /** Injections in force at its end. */
  readonly active: number;
}

export interface RequestOutcome {
  readonly request: string;
  readonly sloMs: number;
  readonly arrived: number;
  readonly completed: number;
  readonly late: number;
  readonly timedOut: number;
  readonly dropped: number;
  /** Seconds in which its SLO was broken. */
  readonly brokenSeconds: number;
}

export interface InjectedRow {
  readonly verdict: CampaignVerdict;
  readonly label: Label | null;
  /** Requests of all types that missed their SLO while it was in force, and that ended then. */
  readonly missedDuring: number;
  readonly endedDuring: number;
}

export interface InjectOutcome {
  readonly rows: readonly InjectedRow[];
  readonly seconds: readonly SecondOfCampaign[];
  readonly requests: readonly RequestOutcome[];
}

/** Looking for a threshold takes about as long as a minute of the campaign. */
const LABEL_COST = 60;

export async function runInject({ campaign, hasLabels, onProgress, signal }: InjectOptions): Promise<InjectOutcome> {
  const slos = isolatedSlos(campaign.application);
  const makeWorld = () => worldOf(campaign, slos);
  const kinds = new Set(campaign.injections.map(keyOf));
  const labelWork = hasLabels ? kinds.size * LABEL_COST : 0;
  const total = campaign.until / 1_000 + labelWork;
  const truths: ApplicationTruth[] = [];
  const verdicts = runCampaign({
    world: makeWorld(),
    injections: campaign.injections,
    until: campaign.until,
    limits: campaign.limits,
    onStep: (truth) => {
      truths.push(truth);
      signal.throwIfAborted();
      onProgress(truths.length / total, "injecting");
    },
  });
  const thresholds = new Map<string, number | null>();
  for (const { done } of verdicts) {
    if (!hasLabels || done === null || thresholds.has(keyOf(done))) continue;
    // A turn of the loop, so that Ctrl-C and the progress bar get theirs.
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    thresholds.set(keyOf(done), thresholdOf(done, { makeWorld }));
    onProgress((truths.length + thresholds.size * LABEL_COST) / total, `labelling ${keyOf(done)}`);
  }
  return {
    rows: verdicts.map((verdict) => rowOf(verdict, thresholds, truths)),
    seconds: truths.map((truth, i) => secondOf(truth, i, verdicts)),
    requests: outcomesOf(truths, slos),
  };
}

const keyOf = ({ kind, target }: Injection): string => `${kind} ${targetName(target)}`;

function worldOf({ application, seed, load, dispersion }: Campaign, slos: readonly Ms[]) {
  const perMinute = Float64Array.of(load);
  return microserviceWorld({
    seed,
    application,
    slos,
    load: { id: "campaign", level: "high", perMinute, dispersion },
    tracing: { sampling: 0 },
  });
}

const sumOf = (truth: ApplicationTruth, pick: (request: ApplicationTruth["requests"][number]) => number): number =>
  truth.requests.reduce((sum, request) => sum + pick(request), 0);

function rowOf(
  verdict: CampaignVerdict,
  thresholds: ReadonlyMap<string, number | null>,
  truths: readonly ApplicationTruth[],
): InjectedRow {
  const { done } = verdict;
  if (done === null) return { verdict, label: null, missedDuring: 0, endedDuring: 0 };
  const threshold = thresholds.get(keyOf(done));
  const during = truths.filter(({ from, to }) => to > done.start && from < done.start + done.duration);
  return {
    verdict,
    label: threshold === undefined ? null : labelOf(done, threshold),
    missedDuring: during.reduce((sum, truth) => sum + sumOf(truth, missed), 0),
    endedDuring: during.reduce((sum, truth) => sum + sumOf(truth, (r) => r.completed + r.timedOut + r.dropped), 0),
  };
}

function secondOf(truth: ApplicationTruth, index: number, verdicts: readonly CampaignVerdict[]): SecondOfCampaign {
  const active = verdicts.filter(
    ({ done }) => done !== null && done.start < truth.to && done.start + done.duration >= truth.to,
  );
  return {
    second: index + 1,
    arrived: sumOf(truth, ({ arrived }) => arrived),
    missed: sumOf(truth, missed),
    active: active.length,
  };
}

function outcomesOf(truths: readonly ApplicationTruth[], slos: readonly Ms[]): readonly RequestOutcome[] {
  const names = truths[0]?.requests.map(({ request }) => request) ?? [];
  return names.map((request, type) => {
    const own = truths.map((truth) => truth.requests[type] as ApplicationTruth["requests"][number]);
    const total = (pick: (r: (typeof own)[number]) => number): number => own.reduce((sum, r) => sum + pick(r), 0);
    return {
      request,
      sloMs: Number((slos[type] as number).toFixed(2)),
      arrived: total((r) => r.arrived),
      completed: total((r) => r.completed),
      late: total((r) => r.late),
      timedOut: total((r) => r.timedOut),
      dropped: total((r) => r.dropped),
      brokenSeconds: own.filter(breaksSlo).length,
    };
  });
}
