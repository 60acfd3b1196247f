/**
 * The YAML of an anomaly campaign.
 * Owns: its keys, units and defaults, targets as text, and the way from it to injections.
 * Not here: reading files (campaign-file.ts), what injections do (act/faults, sim).
 */
import { z } from "zod";
import {
  type FaultLimits,
  type FaultTarget,
  faultKinds,
  faultLimits,
  faultPatterns,
  type Injection,
  kindFits,
  randomCampaign,
  USUAL_RATE,
  USUAL_WINDOW,
  windowedCampaign,
} from "../../act/faults/index.ts";
import { type Ms, milliseconds, seconds, seededRng } from "../../base/index.ts";
import { applications, firmNodes, type MicroserviceApplication } from "../../sim/index.ts";
import { didYouMean } from "../suggest.ts";

const duration = z.number().positive().max(86_400);
const moment = z.number().min(0).max(86_400);
const share = z.number().min(0).max(1);
const kind = z.enum(faultKinds);
const range = z
  .strictObject({ min: share.default(0), max: share.default(1) })
  .refine(({ min, max }) => min <= max, { path: ["max"], message: "must be at least min" });

const injectionSchema = z.strictObject({
  target: z
    .string()
    .describe("a service (text-service), one of its replicas (text-service/1), node:x86-0, or requests:compose-post"),
  kind: kind.describe("what is injected"),
  startSeconds: moment.describe("after the campaign's beginning"),
  durationSeconds: duration.describe("until it ends by itself"),
  pattern: z.enum(faultPatterns).default("constant").describe("constant, ramp (rising), pulse (a second on, one off)"),
  intensity: share.describe("0 is nothing, 1 is all that the injector can do"),
});

const drawn = {
  fromSeconds: moment.default(0),
  untilSeconds: moment.optional().describe("the campaign's end when absent"),
  kinds: z
    .array(kind)
    .nonempty()
    .default([...faultKinds]),
  targets: z.array(z.string()).nonempty().optional().describe("every service when absent"),
  intensity: range.prefault({}),
};

export const campaignSchema = z
  .strictObject({
    application: z.string().describe(applications.map(({ name }) => name).join(", ")),
    seed: z.int().min(0).default(1),
    seconds: duration.describe("how long it runs"),
    load: z.number().positive().max(100_000).default(200).describe("requests per second, of all types together"),
    dispersion: z.number().min(1).max(100).default(1).describe("burstiness: variance over mean of counts in 15 s"),
    injections: z.array(injectionSchema).default([]),
    random: z
      .strictObject({
        perSecond: z.number().positive().max(100).default(USUAL_RATE).describe("exponential gaps with this rate"),
        durationSeconds: z
          .strictObject({ min: duration.default(5), max: duration.default(30) })
          .refine(({ min, max }) => min <= max, { path: ["max"], message: "must be at least min" })
          .prefault({}),
        ...drawn,
      })
      .optional(),
    windows: z
      .strictObject({ seconds: duration.default(USUAL_WINDOW / 1_000).describe("every kind anew in each"), ...drawn })
      .optional(),
    guard: z
      .strictObject({
        maxIntensity: share.default(faultLimits.maxIntensity),
        maxDurationSeconds: duration.default(faultLimits.maxDuration / 1_000),
        maxActive: z.int().min(1).default(faultLimits.maxActive).describe("injections at the same moment"),
        cooldownSeconds: moment.default(faultLimits.cooldown / 1_000).describe("rest of a target after each"),
        protectedTargets: z.array(z.string()).default([]),
      })
      .prefault({}),
  })
  .transform((given, context): Campaign => {
    const issue = (path: readonly PropertyKey[], message: string): void => {
      context.addIssue({ code: "custom", path: [...path], message });
    };
    const application = applications.find(({ name }) => name === given.application);
    if (application === undefined) {
      const names = applications.map(({ name }) => name);
      issue(["application"], `must be one of ${names.join(", ")}${didYouMean(given.application, names)}`);
      return z.NEVER;
    }
    if (given.injections.length === 0 && given.random === undefined && given.windows === undefined)
      issue(["application"], "cannot be disturbed by nothing: give 'injections', 'random' or 'windows'");
    return campaignOf(given, { application, issue });
  });

export interface Campaign {
  readonly application: MicroserviceApplication;
  readonly seed: number;
  readonly until: Ms;
  readonly load: number;
  readonly dispersion: number;
  readonly injections: readonly Injection[];
  readonly limits: FaultLimits;
}

interface Given {
  readonly seed: number;
  readonly seconds: number;
  readonly load: number;
  readonly dispersion: number;
  readonly injections: readonly z.infer<typeof injectionSchema>[];
  readonly random?: (DrawnGiven & { perSecond: number; durationSeconds: { min: number; max: number } }) | undefined;
  readonly windows?: (DrawnGiven & { seconds: number }) | undefined;
  readonly guard: {
    readonly maxIntensity: number;
    readonly maxDurationSeconds: number;
    readonly maxActive: number;
    readonly cooldownSeconds: number;
    readonly protectedTargets: readonly string[];
  };
}

interface DrawnGiven {
  readonly fromSeconds: number;
  readonly untilSeconds?: number | undefined;
  readonly kinds: readonly (typeof faultKinds)[number][];
  readonly targets?: readonly string[] | undefined;
  readonly intensity: { readonly min: number; readonly max: number };
}

interface Place {
  readonly application: MicroserviceApplication;
  readonly issue: (path: readonly PropertyKey[], message: string) => void;
}

function campaignOf(given: Given, place: Place): Campaign {
  const { application, issue } = place;
  const until = seconds(given.seconds);
  const injections: Injection[] = [];
  for (const [i, one] of given.injections.entries()) {
    const target = targetOf(one.target, { ...place, path: ["injections", i, "target"] });
    if (target === undefined) continue;
    if (!kindFits(one.kind, target)) {
      const where = one.kind === "workload-variation" ? "'requests:all' or 'requests:<type>'" : "a service or a node";
      issue(["injections", i, "target"], `must be ${where} for the kind ${one.kind}, found '${one.target}'`);
    }
    if (one.startSeconds >= given.seconds)
      issue(["injections", i, "startSeconds"], `must lie before the campaign's end at ${given.seconds} s`);
    injections.push({
      id: `injection-${i + 1}`,
      kind: one.kind,
      target,
      start: seconds(one.startSeconds),
      duration: seconds(one.durationSeconds),
      pattern: one.pattern,
      intensity: one.intensity,
    });
  }
  const rng = seededRng(given.seed).fork("campaign");
  if (given.random !== undefined) {
    const { perSecond, durationSeconds } = given.random;
    const drawing = drawingOf(given.random, { ...place, until, path: ["random", "targets"] });
    const lengths = { min: seconds(durationSeconds.min), max: seconds(durationSeconds.max) };
    injections.push(...randomCampaign(rng.fork("random"), { ...drawing, perSecond, duration: lengths }));
  }
  if (given.windows !== undefined) {
    const drawing = drawingOf(given.windows, { ...place, until, path: ["windows", "targets"] });
    injections.push(...windowedCampaign(rng.fork("windows"), { ...drawing, window: seconds(given.windows.seconds) }));
  }
  const { guard, seed, load, dispersion } = given;
  const limits: FaultLimits = {
    ...faultLimits,
    maxIntensity: guard.maxIntensity,
    maxDuration: seconds(guard.maxDurationSeconds),
    maxActive: guard.maxActive,
    cooldown: seconds(guard.cooldownSeconds),
    protectedTargets: guard.protectedTargets,
  };
  return { application, seed, until, load, dispersion, injections, limits };
}

function drawingOf(given: DrawnGiven, { until, path, ...place }: Place & { until: Ms; path: readonly PropertyKey[] }) {
  const { application } = place;
  const named = given.targets?.flatMap((text, i) => targetOf(text, { ...place, path: [...path, i] }) ?? []);
  const everywhere = application.services.map(
    ({ name }): FaultTarget => ({ on: "instance", service: name, replica: 0 }),
  );
  return {
    from: seconds(given.fromSeconds),
    until: milliseconds(Math.min(until, seconds(given.untilSeconds ?? Number.POSITIVE_INFINITY))),
    kinds: given.kinds,
    targets: named === undefined || named.length === 0 ? everywhere : named,
    intensity: given.intensity,
  };
}

/** What a text names; where it names nothing, an issue that says what would. */
function targetOf(
  text: string,
  { application, issue, path }: Place & { path: readonly PropertyKey[] },
): FaultTarget | undefined {
  const refuse = (what: string, known: readonly string[]): undefined => {
    issue(path, `must be a target: ${what}${didYouMean(text.replace(/^\w+:/, ""), known)}`);
    return undefined;
  };
  const nodes = firmNodes().map(({ name }) => name);
  if (text.startsWith("node:")) {
    const node = text.slice("node:".length);
    return nodes.includes(node) ? { on: "node", node } : refuse(`there is no node '${node}'`, nodes);
  }
  if (text.startsWith("requests:")) {
    const request = text.slice("requests:".length);
    const names = ["all", ...application.requests.map(({ name }) => name)];
    return names.includes(request) ? { on: "requests", request } : refuse(`there are no requests '${request}'`, names);
  }
  const [service = "", replica = "0", ...rest] = text.split("/");
  const names = application.services.map(({ name }) => name);
  if (!names.includes(service)) return refuse(`${application.name} has no service '${service}'`, names);
  if (rest.length > 0 || !/^\d{1,3}$/.test(replica))
    return refuse(`'${replica}' is no replica; write '${service}/0'`, []);
  return { on: "instance", service, replica: Number(replica) };
}
