/**
 * Campaigns of one seed: a localizer learns from some, and is judged on others that it has not seen.
 * Owns: training, single anomalies, several at once, and what is kept of each. Not here: the claims (firm-localization.ts).
 */
import { type FaultKind, faultKinds, targetName, windowedCampaign } from "../../act/faults/index.ts";
import { type Ms, milliseconds, type Resource, seededRng } from "../../base/index.ts";
import { Localizer, type Suspect } from "../../control/localize/index.ts";
import { applications, type MicroserviceApplication } from "../../sim/index.ts";
import { busyTargets } from "./applications.ts";
import { drawCase, type LocalizationCase } from "./localization-cases.ts";
import type { Scored } from "./localization-figures.ts";
import { CALM, culpritsOf, LocalizationScene, SETTLE, WINDOW } from "./localization-scene.ts";

export interface CampaignsConfig {
  readonly perSecond: number;
  /** Single anomalies per kind, the applications in turn. */
  readonly trainPerKind: number;
  readonly judgePerKind: number;
  /** Windows of several anomalies per application, to learn from and to be judged on. */
  readonly trainWindows: number;
  readonly judgeWindows: number;
}

export interface SingleResult {
  readonly kind: FaultKind;
  readonly application: string;
  readonly all: readonly Scored[];
  /** The same window by a localizer that sees the two printed features only. */
  readonly printed: readonly Scored[];
  /** Whether the culprit came first, and whether its resource was named right; null for load, which is of no container. */
  readonly isFirst: boolean;
  readonly isResourceRight: boolean | null;
  /** Expected saving of the injected container and what ending the injection saved, ms; null where it was no suspect. */
  readonly saving: { readonly expected: number; readonly measured: number } | null;
}

export interface WindowResult {
  readonly application: string;
  readonly all: readonly Scored[];
}

export interface CampaignsResult {
  readonly single: readonly SingleResult[];
  readonly multi: readonly WindowResult[];
  /** Threshold of culprits in the windows. */
  readonly threshold: number;
  /** Instances that the localizer learned from, and how many of them were culprits. */
  readonly learned: { readonly culprits: number; readonly others: number };
}

export interface CampaignsJob {
  readonly seed: number;
  readonly config: CampaignsConfig;
  readonly progress: (fraction: number) => void;
}

/** Cases of one seed are numbered from here on: those learned from, and those judged on. */
const SEEDS_PER_JOB = 10_000;
const JUDGED_FROM = 5_000;
const INJECTED_FOR: Ms = milliseconds(SETTLE + WINDOW);

/** The resource that an anomaly takes away. */
const resourceOf: Readonly<Record<FaultKind, Resource | null>> = {
  "workload-variation": null,
  "network-delay": "network",
  cpu: "cpu",
  llc: "llc",
  "memory-bandwidth": "memory",
  "io-bandwidth": "io",
  "network-bandwidth": "network",
};

interface Localizers {
  readonly all: Localizer;
  readonly printed: Localizer;
}

export function runCampaigns({ seed, config, progress }: CampaignsJob): CampaignsResult {
  const { trainPerKind, judgePerKind, trainWindows, judgeWindows } = config;
  const localizers: Localizers = {
    all: new Localizer({ seed, window: WINDOW }),
    printed: new Localizer({ seed, window: WINDOW, features: "printed" }),
  };
  const first = seed * SEEDS_PER_JOB;
  const steps = faultKinds.length * (trainPerKind + judgePerKind) + applications.length * (trainWindows + judgeWindows);
  let done = 0;
  const step = (count = 1) => {
    done += count;
    progress(done / steps);
  };
  // Kinds by turns, so that the last labels are not all of one kind.
  for (let k = 0; k < trainPerKind * faultKinds.length; k++, step()) {
    const drawn = caseAt(k, first + k, config);
    if (drawn !== null) learnCase(drawn, config, localizers);
  }
  for (const [k, application] of applications.entries()) {
    runWindows({ application, seed: first + 1_000 + k, config, count: trainWindows }, localizers, {
      onWindow: (culprits, now) => {
        for (const localizer of Object.values(localizers)) localizer.learn({ culprits }, now);
      },
    });
    step(trainWindows);
  }
  const single: SingleResult[] = [];
  for (let k = 0; k < judgePerKind * faultKinds.length; k++, step()) {
    const drawn = caseAt(k, first + JUDGED_FROM + k, config);
    const judged = drawn === null ? null : judgeCase(drawn, config, localizers);
    if (judged !== null) single.push(judged);
  }
  const multi: WindowResult[] = [];
  for (const [k, application] of applications.entries()) {
    runWindows({ application, seed: first + JUDGED_FROM + 1_000 + k, config, count: judgeWindows }, localizers, {
      onWindow: (culprits, now) => {
        multi.push({ application: application.name, all: scoredBy(localizers.all.suspects(now), culprits) });
      },
    });
    step(judgeWindows);
  }
  const { positive, negative } = localizers.all.svm.counts;
  const { threshold } = localizers.all.options;
  return { single, multi, threshold, learned: { culprits: positive, others: negative } };
}

function caseAt(k: number, seed: number, { perSecond }: CampaignsConfig): LocalizationCase | null {
  const kind = faultKinds[k % faultKinds.length] as FaultKind;
  const application = applications[((k % faultKinds.length) + Math.floor(k / faultKinds.length)) % applications.length];
  const duration = INJECTED_FOR;
  return drawCase({
    application: application as MicroserviceApplication,
    seed,
    perSecond,
    kind,
    start: CALM,
    duration,
  });
}

/** Runs a case to the end of its injection; null where it did not break an SLO after all, which a threshold's error allows. */
function runCase(drawn: LocalizationCase, { perSecond }: CampaignsConfig, { all, printed }: Localizers) {
  const { application, seed, injection } = drawn;
  const scene = new LocalizationScene({ application, seed, perSecond, sampling: 1 }, [all, printed]);
  scene.run([], CALM);
  scene.settleNormal();
  const now = milliseconds(CALM + INJECTED_FOR);
  if (!scene.run([injection], now)) return null;
  const culprits =
    injection.target.on === "requests"
      ? culpritsOf({ application, seed, perSecond }, injection)
      : [targetName(injection.target)];
  return culprits.length === 0 ? null : { scene, now, culprits };
}

function learnCase(drawn: LocalizationCase, config: CampaignsConfig, localizers: Localizers): void {
  const run = runCase(drawn, config, localizers);
  if (run === null) return;
  for (const localizer of Object.values(localizers)) localizer.learn({ culprits: run.culprits }, run.now);
}

function judgeCase(drawn: LocalizationCase, config: CampaignsConfig, localizers: Localizers): SingleResult | null {
  const run = runCase(drawn, config, localizers);
  if (run === null) return null;
  const { scene, now, culprits } = run;
  const { kind } = drawn.injection;
  const suspects = localizers.all.suspects(now);
  const blamed = suspects.find(({ instance }) => culprits.includes(instance));
  const expected = resourceOf[kind];
  const result = {
    kind,
    application: drawn.application.name,
    all: scoredBy(suspects, culprits),
    printed: scoredBy(localizers.printed.suspects(now), culprits),
    isFirst: suspects[0] !== undefined && culprits.includes(suspects[0].instance),
    isResourceRight: expected === null ? null : blamed?.resource === expected,
  };
  if (blamed === undefined || expected === null) return { ...result, saving: null };
  localizers.all.promise(blamed, now);
  // The injection has ended: what it took is given back. A window later the difference is measured.
  const later = milliseconds(now + SETTLE + WINDOW);
  scene.run([], later);
  const [check] = localizers.all.check(later);
  return { ...result, saving: check === undefined ? null : { expected: check.expected, measured: check.measured } };
}

interface WindowsJob {
  readonly application: MicroserviceApplication;
  readonly seed: number;
  readonly config: CampaignsConfig;
  readonly count: number;
}

/** One injection of every kind in each window of ten seconds, window after window; those that break no SLO are passed over. */
function runWindows(
  { application, seed, config: { perSecond }, count }: WindowsJob,
  { all, printed }: Localizers,
  { onWindow }: { onWindow(culprits: readonly string[], now: Ms): void },
): void {
  if (count === 0) return;
  const world = { application, seed, perSecond };
  const scene = new LocalizationScene({ ...world, sampling: 1 }, [all, printed]);
  scene.run([], CALM);
  scene.settleNormal();
  const until = milliseconds(CALM + count * WINDOW);
  const targets = busyTargets(application);
  const injections = windowedCampaign(seededRng(seed).fork("windows"), { from: CALM, until, targets, window: WINDOW });
  for (let k = 0; k < count; k++) {
    const [from, to] = [CALM + k * WINDOW, CALM + (k + 1) * WINDOW];
    const own = injections.filter(({ start }) => start >= from && start < to);
    // A second of the next window passes before the last traces are whole; it is in nobody's traces yet.
    const next = injections.filter(({ start }) => start >= to && start < to + SETTLE);
    const isBroken = scene.run(k === 0 ? own : [], milliseconds(to));
    scene.run(next, milliseconds(to + SETTLE));
    if (!isBroken) continue;
    const culprits = new Set(own.flatMap((injection) => culpritsOf(world, injection)));
    onWindow([...culprits], milliseconds(to + SETTLE));
  }
}

/** Every suspect, and every culprit that is not among them. */
function scoredBy(suspects: readonly Suspect[], culprits: readonly string[]): readonly Scored[] {
  const seen = new Set(suspects.map(({ instance }) => instance));
  const rounded = (score: number): number => Math.round(score * 1e6) / 1e6;
  return [
    ...suspects.map(({ instance, score }) => ({ score: rounded(score), isCulprit: culprits.includes(instance) })),
    ...culprits.filter((culprit) => !seen.has(culprit)).map(() => ({ score: -1, isCulprit: true })),
  ];
}
