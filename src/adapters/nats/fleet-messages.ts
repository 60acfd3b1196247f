/**
 * Messages of a fleet as bytes: JSON, checked at the edge.
 * Owns: subjects, shapes, bounds, and that a number that is none arrives as one. Not here: what they mean (control/agents).
 *
 * JSON has no NaN: JavaScript writes null in its place, and here null is read as NaN, so that the member who said it is refused by
 * the fleet's own check and its neighbours in the same message are not. Doubles are written so that they are read as they were.
 */
import * as z from "zod";
import { err, type Failure, failure, ok, parseWorkloadId, type Result, type WorkloadId } from "../../base/index.ts";
import {
  type HostState,
  type JoinAnswer,
  type JoinRequest,
  type StepAnswer,
  type StepRequest,
  variantNames,
} from "../../control/agents/index.ts";

/** A thousand members' reports; what is longer is not read. */
export const MOST_BYTES = 262_144;
/** What they are told: as much as a NATS server takes unless it is told otherwise. */
const MOST_ANSWER_BYTES = 1_048_576;
const MOST_MEMBERS = 1_000;
const MOST_VALUES = 64;

const poolName = /^[a-z0-9][a-z0-9-]{0,31}$/;
/** A pool's name is part of subjects and of buckets' names. */
export const isPoolName = (name: string): boolean => poolName.test(name);

export const subjects = (pool: string) => ({
  join: `coxswain.fleet.${pool}.join`,
  status: `coxswain.fleet.${pool}.status`,
  steps: `coxswain.fleet.${pool}.step.*`,
  leaves: `coxswain.fleet.${pool}.leave.*`,
  step: (session: string) => `coxswain.fleet.${pool}.step.${session}`,
  leave: (session: string) => `coxswain.fleet.${pool}.leave.${session}`,
});

const workload = z
  .string()
  .max(128)
  .transform((text, context): WorkloadId => {
    const parsed = parseWorkloadId(text);
    if (parsed.ok) return parsed.value;
    context.addIssue({ code: "custom", message: parsed.failure.message });
    return z.NEVER;
  });
const count = z.int().min(0);
/** Whatever is no finite number, for the fleet to refuse. */
const number = z.union([z.number(), z.null().transform(() => Number.NaN)]);
const floats = z
  .array(z.number())
  .max(MOST_VALUES * 16)
  .transform((values) => Float32Array.from(values));
const setting = z.strictObject({ shares: z.number(), memory: z.number(), containers: z.number() });
const sight = {
  obs: floats,
  have: setting,
  measures: z.strictObject({ preservation: z.number(), cpu: z.number(), memory: z.number() }),
};
const refused = z.strictObject({ code: z.string(), message: z.string() });

const joinRequest = z.strictObject({
  name: z.string().max(128),
  agents: z.array(workload).min(1).max(MOST_MEMBERS),
});
const stepRequest = z.strictObject({
  step: count,
  members: z
    .array(
      z.strictObject({
        agent: workload,
        incarnation: count,
        values: z.array(number).max(MOST_VALUES),
        // A reward that is none is told apart from "did nothing", which is left out.
        reward: number.optional(),
        choice: z.number().nullable(),
        kept: count,
      }),
    )
    .min(1)
    .max(MOST_MEMBERS),
});
const joinAnswer = z.strictObject({
  session: z.string().max(64),
  step: count,
  variant: z.enum(variantNames),
  contextSize: count,
  pool: z.strictObject({ cores: z.number().positive(), memory: z.number().positive() }),
  stepTakes: z.number().positive(),
  members: z.array(z.strictObject({ agent: workload, incarnation: count, group: z.string(), ...sight })),
  refused: z.array(refused.extend({ agent: z.string() })),
});
const stepAnswer = z.strictObject({
  step: count.nullable(),
  next: count,
  teamReward: z.number().nullable(),
  members: z.array(
    z.strictObject({
      agent: workload,
      acted: z.boolean(),
      refused: refused.optional(),
      seen: z.strictObject(sight).nullable(),
      reward: z.number().nullable(),
      global: floats,
    }),
  ),
});
const hostState = z.strictObject({
  step: count,
  members: z.array(
    z.strictObject({
      agent: workload,
      incarnation: count,
      group: z.string(),
      seenAt: z.number(),
      process: z.string(),
      kept: count,
      actor: z.string(),
      lastRefusal: z.string().nullable(),
    }),
  ),
  rules: z.string(),
  unattended: z.array(workload),
  refusals: z.record(z.string(), count),
});
const answerTo = <T extends z.ZodType>(value: T) =>
  z.union([
    z.strictObject({ ok: z.literal(true), value }),
    z.strictObject({
      ok: z.literal(false),
      failure: z.strictObject({ code: z.string(), message: z.string(), retry: z.boolean() }),
    }),
  ]);

export const readJoin = (bytes: Uint8Array): Result<JoinRequest> =>
  read(bytes, joinRequest, { what: "a request to join" });

export function readStep(bytes: Uint8Array): Result<StepRequest> {
  const found = read(bytes, stepRequest, { what: "a request of a step" });
  if (!found.ok) return found;
  const { step, members } = found.value;
  return ok({
    step,
    members: members.map(({ reward, ...rest }) => ({ ...rest, reward: reward === undefined ? null : reward })),
  });
}

export const readJoinAnswer = (bytes: Uint8Array): Result<JoinAnswer> => told(bytes, joinAnswer);
export const readStepAnswer = (bytes: Uint8Array): Result<StepAnswer> => told(bytes, stepAnswer) as Result<StepAnswer>;
export const readState = (bytes: Uint8Array): Result<HostState> => told(bytes, hostState) as Result<HostState>;

export const writeJoin = (request: JoinRequest): string => JSON.stringify(request);

export const writeStep = ({ step, members }: StepRequest): string =>
  JSON.stringify({
    step,
    members: members.map(({ values, reward, ...rest }) => ({
      ...rest,
      values: Array.from(values),
      ...(reward === null ? {} : { reward }),
    })),
  });

export function writeAnswer(result: Result<JoinAnswer | StepAnswer | HostState>): string {
  if (result.ok) return JSON.stringify(result, plainArrays);
  const { code, message, retry } = result.failure;
  return JSON.stringify({ ok: false, failure: { code, message, retry } });
}

const plainArrays = (_key: string, value: unknown): unknown =>
  value instanceof Float32Array ? Array.from(value) : value;

function read<T>(
  bytes: Uint8Array,
  schema: z.ZodType<T>,
  { what, most = MOST_BYTES }: { readonly what: string; readonly most?: number },
): Result<T> {
  if (bytes.length > most)
    return err(malformed(`${what} has ${bytes.length} bytes and may have ${most}; put fewer agents into one process`));
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return err(malformed(`${what} is not valid JSON; use the same version on both sides`));
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  const where = issue?.path.map(String).join(".") ?? "";
  return err(
    malformed(`${what} is not as it should be at '${where}': ${issue?.message}; use the same version on both sides`),
  );
}

function told<T extends z.ZodType>(bytes: Uint8Array, schema: T): Result<z.output<T>> {
  const found = read(bytes, answerTo(schema), { what: "an answer of the coordinator", most: MOST_ANSWER_BYTES });
  return found.ok ? (found.value as Result<z.output<T>>) : found;
}

const malformed = (message: string): Failure => failure("agents.malformed", message);
