/**
 * The HTTP API as functions.
 * Owns: addresses, the bearer token, problem+json turned into errors that a person can read.
 */
import { signal } from "@preact/signals";
import type {
  AgentDocument,
  Command,
  DecisionDocument,
  EmbeddingsDocument,
  EventDocument,
  Page,
  Problem,
  SeriesDocument,
  Severity,
  WorkloadDocument,
} from "../../../src/contract/index.ts";

const BASE = new URL("v1/", document.baseURI);
const TOKEN = "coxswain.token";

/** Kept for the session only: a token in local storage outlives the person at the screen. */
export const token = signal<string | null>(sessionStorage.getItem(TOKEN));

export function setToken(value: string): void {
  sessionStorage.setItem(TOKEN, value);
  token.value = value;
}

export class PlaneProblem extends Error {
  readonly status: number;
  readonly code: string;

  constructor(problem: Pick<Problem, "detail" | "status" | "code">) {
    super(problem.detail);
    this.status = problem.status;
    this.code = problem.code;
  }
}

export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token.value !== null) headers.set("authorization", `Bearer ${token.value}`);
  let answer: Response;
  try {
    answer = await fetch(new URL(path, BASE), { ...init, headers });
  } catch (reason) {
    if (init.signal?.aborted === true) throw reason;
    throw new PlaneProblem({ status: 0, code: "dashboard.unreachable", detail: "The control plane does not answer." });
  }
  if (!answer.ok) throw await problemOf(answer);
  return answer;
}

async function problemOf(answer: Response): Promise<PlaneProblem> {
  const body = (await answer.json().catch(() => null)) as Partial<Problem> | null;
  return new PlaneProblem({
    status: answer.status,
    code: body?.code ?? "dashboard.answer",
    detail: body?.detail ?? body?.title ?? `The control plane answered ${answer.status}.`,
  });
}

interface EventsAsked {
  readonly limit: number;
  readonly cursor: string | null;
  /** Those that are less severe are left out. */
  readonly least: Severity;
}

const id = encodeURIComponent;
const read = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
  (await (await ask(path, signal === undefined ? {} : { signal })).json()) as T;

export const readSeries = (workload: string, span: { from: number; points: number }): Promise<SeriesDocument> =>
  read(`workloads/${id(workload)}/series?points=${span.points}&from=${Math.max(0, Math.floor(span.from))}`);
export const readAgent = (agent: string, signal?: AbortSignal): Promise<AgentDocument> =>
  read(`agents/${id(agent)}`, signal);
export const readWorkload = (workload: string): Promise<WorkloadDocument> => read(`workloads/${id(workload)}`);
export const readDecisions = (workload: string, limit: number): Promise<Page<DecisionDocument>> =>
  read(`decisions?workload=${id(workload)}&limit=${limit}`);
export const readEvents = (options: EventsAsked): Promise<Page<EventDocument>> =>
  read(
    `events?limit=${options.limit}&severity=${options.least}${options.cursor === null ? "" : `&cursor=${id(options.cursor)}`}`,
  );
export const readEmbeddings = (signal?: AbortSignal): Promise<EmbeddingsDocument> => read("embeddings", signal);

/** Carries a command out. `revision` is what the person saw; where another was faster, the problem's code says so. */
export async function send(command: Command, revision: number): Promise<void> {
  const { path, method, body } = requestOf(command);
  await ask(path, {
    method,
    headers: {
      "if-match": `"${revision}"`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

function requestOf(command: Command): { path: string; method: string; body?: unknown } {
  switch (command.kind) {
    case "pause":
    case "resume":
    case "promote":
    case "roll-back":
      return { path: `agents/${id(command.agent)}/${command.kind}`, method: "POST" };
    case "set-mode":
      return { path: `agents/${id(command.agent)}/mode`, method: "PUT", body: { mode: command.mode } };
    case "set-slo":
      return { path: `workloads/${id(command.workload)}/slo`, method: "PUT", body: command.slo };
    case "inject":
      return { path: `workloads/${id(command.workload)}/faults`, method: "POST", body: { fault: command.fault } };
  }
}

export const isStale = (problem: unknown): boolean =>
  problem instanceof PlaneProblem && (problem.status === 412 || problem.code === "plane.revision");
