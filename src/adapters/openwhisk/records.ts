/**
 * Activation records and the list of actions, page by page.
 * Owns: paging, which records were handed out before, what the platform's documents mean. Not here: requests (client.ts).
 *
 * OpenWhisk lists the newest first, by when they began. Records that come in while pages are read push others onto the next page,
 * so some come twice and none is lost. Results and logs of calls are in the answers and are dropped at once.
 */
import * as z from "zod";
import type { Result } from "../../base/index.ts";
import { err, milliseconds, ok } from "../../base/index.ts";
import {
  type ActivationBatch,
  type ActivationCursor,
  type ActivationOutcome,
  type ActivationSource,
  type DeployedFunction,
  type DeployedFunctions,
  endOf,
  type StoredActivation,
} from "../../observe/telemetry/index.ts";
import { SEQUENCE } from "./actuator.ts";
import { beginCall, malformed, type OpenWhiskCall } from "./client.ts";
import { workloadOf } from "./names.ts";
import type { OpenWhiskTarget } from "./options.ts";

const Annotations = z.array(z.object({ key: z.string(), value: z.unknown() }));

/** With `docs` the status is a word in the response; in summaries it is a number beside it. */
const ActivationBody = z.object({
  activationId: z.string().min(1).max(64),
  namespace: z.string(),
  start: z.number().nonnegative(),
  end: z.number().nonnegative().optional(),
  duration: z.number().nonnegative().optional(),
  response: z.object({ status: z.string().optional(), result: z.unknown().optional() }).optional(),
  annotations: Annotations,
});

const LimitsAnnotation = z.object({ memory: z.number().positive(), concurrency: z.int().positive().optional() });

const ListedAction = z.object({
  namespace: z.string(),
  name: z.string(),
  annotations: Annotations.optional(),
  limits: z.object({ memory: z.number().positive() }),
});

const WHISK_ERROR = "whisk internal error";
const DEVELOPER_ERROR = "action developer error";
/** The only trace that a kill for memory leaves in a record: in the platform's words, which no function can put there. */
const MEMORY_EXHAUSTED = "exhausted its memory";

export function openWhiskRecords(target: OpenWhiskTarget): ActivationSource {
  return {
    functions: (signal) => listFunctions(target, beginCall(target, signal)),
    activations: (cursor, signal) => readActivations(target, cursor, beginCall(target, signal)),
  };
}

async function readActivations(
  target: OpenWhiskTarget,
  cursor: ActivationCursor,
  call: OpenWhiskCall,
): Promise<Result<ActivationBatch>> {
  const seen = new Set(cursor.seen);
  const records: StoredActivation[] = [];
  const begun = new Map<string, number>();
  let broken = 0;
  const query = { docs: "true", since: cursor.since };
  const take = (item: unknown): void => {
    const activation = ActivationBody.safeParse(item);
    if (!activation.success) {
      broken += 1;
      return;
    }
    const { activationId, start } = activation.data;
    if (begun.has(activationId)) return;
    begun.set(activationId, start);
    if (seen.has(activationId)) return;
    const record = recordOf(activation.data);
    if (record === "malformed") broken += 1;
    else if (record !== undefined) records.push(record);
  };
  const pages = await eachPage(target, { path: "activations", query, most: target.mostRecords, take }, call);
  if (!pages.ok) return pages;
  const newest = [...begun.values()].reduce((most, start) => Math.max(most, start), 0);
  const since = milliseconds(Math.max(cursor.since, newest - target.lookBack));
  return ok({
    records: records.sort((a, b) => endOf(a) - endOf(b)),
    cursor: { since, seen: [...begun].flatMap(([id, start]) => (start >= since ? [id] : [])) },
    isComplete: pages.value.isComplete,
    malformed: broken,
  });
}

/** Undefined for what ran in no container (sequences, triggers) and for functions that cannot be managed. */
function recordOf(activation: z.infer<typeof ActivationBody>): StoredActivation | "malformed" | undefined {
  const { start, end, duration = (end ?? start) - start, namespace, response } = activation;
  const notes = new Map(activation.annotations.map(({ key, value }) => [key, value]));
  const path = notes.get("path");
  if (!end || notes.get("kind") === SEQUENCE || typeof path !== "string") return undefined;
  const [owner, ...parts] = path.split("/");
  // A package that was bound from another namespace: its actions are not ours to set.
  const workload = owner === namespace ? workloadOf(parts) : undefined;
  if (workload === undefined) return undefined;
  const limits = LimitsAnnotation.safeParse(notes.get("limits"));
  const waiting = notes.get("waitTime") ?? 0;
  const coldStart = notes.get("initTime") ?? 0;
  if (!limits.success || !isTime(waiting) || !isTime(coldStart)) return "malformed";
  return {
    id: activation.activationId,
    workload,
    arrivedAt: milliseconds(start - waiting),
    outcome: outcomeOf(response, notes.get("timeout") === true),
    waiting,
    coldStart,
    // Its duration begins with the initialisation, where there was one.
    execution: Math.max(0, duration - coldStart),
    memory: limits.data.memory,
    concurrency: limits.data.concurrency ?? 1,
  };
}

const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;

/** An error of the function's own making is an answer: no setting would have made it another. */
function outcomeOf(response: z.infer<typeof ActivationBody>["response"], isTimedOut: boolean): ActivationOutcome {
  if (isTimedOut || response?.status === WHISK_ERROR) return "dropped";
  if (response?.status !== DEVELOPER_ERROR) return "completed";
  const error = (response.result as { readonly error?: unknown } | null | undefined)?.error;
  return typeof error === "string" && error.includes(MEMORY_EXHAUSTED) ? "killed" : "completed";
}

async function listFunctions(target: OpenWhiskTarget, call: OpenWhiskCall): Promise<Result<DeployedFunctions>> {
  const functions = new Map<string, DeployedFunction>();
  const leftOut = new Set<string>();
  let broken = 0;
  const take = (item: unknown): void => {
    const action = ListedAction.safeParse(item);
    if (!action.success) {
      broken += 1;
      return;
    }
    const { namespace, name, annotations = [], limits } = action.data;
    const parts = [...namespace.split("/").slice(1), name];
    const workload = workloadOf(parts);
    const kind = annotations.find(({ key }) => key === "exec")?.value;
    if (workload === undefined || kind === SEQUENCE) leftOut.add(parts.join("/"));
    else
      functions.set(workload, {
        workload,
        runtime: typeof kind === "string" ? kind : "unknown",
        memory: limits.memory,
      });
  };
  const pages = await eachPage(target, { path: "actions", query: {}, most: MOST_ACTIONS, take }, call);
  if (!pages.ok) return pages;
  if (!pages.value.isComplete) return err(malformed(target.origin, `it lists more than ${MOST_ACTIONS} actions`));
  if (broken > 0) return err(malformed(target.origin, `${broken} of its actions lack a name or limits`));
  return ok({ functions: [...functions.values()], leftOut: [...leftOut] });
}

/** More than a control plane would manage. */
const MOST_ACTIONS = 100_000;

interface PagedQuery {
  readonly path: string;
  readonly query: Readonly<Record<string, string | number>>;
  readonly most: number;
  readonly take: (item: unknown) => void;
}

/** Pages that are too large are asked for again with half as many entries. */
async function eachPage(
  { origin, pageSize }: OpenWhiskTarget,
  { path, query, most, take }: PagedQuery,
  call: OpenWhiskCall,
): Promise<Result<{ readonly isComplete: boolean }>> {
  let limit = pageSize;
  for (let skip = 0; skip < most; ) {
    const page = await call.ask({ method: "GET", path, query: { ...query, limit, skip } });
    if (!page.ok && page.failure.code === "functions.platform.too-large" && limit > 1) {
      limit = Math.floor(limit / 2);
      continue;
    }
    if (!page.ok) return page;
    if (!Array.isArray(page.value)) return err(malformed(origin, `its list of ${path} is no list`));
    for (const item of page.value) take(item);
    if (page.value.length < limit) return ok({ isComplete: true });
    skip += page.value.length;
  }
  return ok({ isComplete: false });
}
