/**
 * What goes over the work queue, as JSON: offers of jobs, their outcomes, and how far one is.
 * Owns: the shapes, their bounds, and the name of an offer. Not here: where they are kept (work-queue.ts), what a job is
 * (cli/work).
 *
 * An offer names a registered study and one of its units or models, and nothing else: no path, no code, no settings. What
 * takes it works the rest out from its own sources, which the build says to be the same.
 */
import { createHash } from "node:crypto";
import * as z from "zod";
import { err, type Failure, failure, ok, type Result } from "../../base/index.ts";

/** The server refuses larger messages of these kinds. */
export const OFFER_BYTES = 16_384;
export const OUTCOME_BYTES = 262_144;
/** A result up to this size travels in its message; the rest goes through the object store. */
export const INLINE_BYTES = 131_072;
/** The largest result that is fetched. */
export const OBJECT_BYTES = 256 * 2 ** 20;
const BEAT_BYTES = 256;

const mark = z.string().regex(/^[0-9a-f]{16}$/);
const text = (most: number) => z.string().min(1).max(most);

/** Everything besides the job that a result depends on; two that differ in any of it do not work for one another. */
const Build = z.strictObject({
  version: text(64),
  /** Of all sources that compute, and of the kernels. */
  sources: mark,
  kernels: text(32),
  /** Engines round `Math.exp` and its like as they see fit. */
  engine: text(64),
  arch: text(32),
  /** Of the files given by --module; empty without any. */
  modules: z.union([z.literal(""), mark]),
});
export type WorkBuild = z.infer<typeof Build>;

const Offer = z.strictObject({
  schema: z.literal(1),
  build: Build,
  study: text(128),
  quick: z.boolean(),
  /** Of the study's configuration and the code of its units. */
  fingerprint: mark,
  job: z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("unit"),
      seed: z.int().nonnegative(),
      unit: text(256),
      /** SHA-256 of each model that the study's jobs begin with. */
      models: z.record(text(64), z.string().regex(/^[0-9a-f]{64}$/)).refine((found) => Object.keys(found).length <= 64),
    }),
    z.strictObject({ kind: z.literal("model"), name: text(64) }),
  ]),
});
export type WorkOffer = z.infer<typeof Offer>;

const Outcome = z.strictObject({
  schema: z.literal(1),
  /** Who computed, for logs. */
  by: text(128),
  seconds: z.number().nonnegative(),
  result: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("value"), value: z.unknown() }),
    /** In the object store, under the name of the offer. */
    z.strictObject({ kind: z.literal("object"), bytes: z.int().nonnegative().max(OBJECT_BYTES) }),
    z.strictObject({
      kind: z.literal("failure"),
      code: z
        .string()
        .max(64)
        .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/),
      message: text(4_096),
    }),
  ]),
});
export type WorkOutcome = z.infer<typeof Outcome>;

const Beat = z.strictObject({ fraction: z.number().min(0).max(1) });

/** Sixteen digits that stand for a build in subjects. */
export const buildMark = (build: WorkBuild): string => digest([build.version, build.sources, ...restOf(build)], 16);

const restOf = ({ kernels, engine, arch, modules }: WorkBuild) => [kernels, engine, arch, modules];

/** The same for the same job, whoever offers it and however often. */
export function offerId({ build, study, quick, fingerprint, job }: WorkOffer): string {
  const own = job.kind === "model" ? [job.name] : [job.seed, job.unit, Object.entries(job.models).sort()];
  return digest([buildMark(build), study, quick, fingerprint, job.kind, ...own], 32);
}

function digest(parts: readonly unknown[], digits: number): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, digits);
}

export const readOffer = (bytes: Uint8Array): Result<WorkOffer> => read(Offer, bytes, OFFER_BYTES);
export const readOutcome = (bytes: Uint8Array): Result<WorkOutcome> => read(Outcome, bytes, OUTCOME_BYTES);

/** How much of a job is done; undefined for what is no such message. */
export function readBeat(bytes: Uint8Array): number | undefined {
  const found = read(Beat, bytes, BEAT_BYTES);
  return found.ok ? found.value.fraction : undefined;
}

export const writeMessage = (message: WorkOffer | WorkOutcome | { readonly fraction: number }): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(message));

function read<T>(schema: z.ZodType<T>, bytes: Uint8Array, most: number): Result<T> {
  if (bytes.length > most) return err(malformed(`it has ${bytes.length} bytes, more than ${most}`));
  let found: unknown;
  try {
    found = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // A thousand brackets inside one another end up here as well.
    return err(malformed("it is not valid JSON"));
  }
  const parsed = schema.safeParse(found);
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  return err(malformed(`${issue?.path.map(String).join(".").slice(0, 100) || "it"}: ${issue?.message.slice(0, 200)}`));
}

function malformed(why: string): Failure {
  return failure("work.malformed", `a message of the work queue was refused: ${why}; look at who may publish there`);
}
