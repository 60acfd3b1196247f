/**
 * A control plane that follows a script: the port of the server, workloads whose figures are known, and a person's commands
 * carried out at once. One workload is in trouble from the start.
 * Owns: what the browser tests see. Not here: HTTP (the server's own).
 */
import type { Result } from "../../src/base/index.ts";
import { failure } from "../../src/base/index.ts";
import type {
  Account,
  AgentDocument,
  BudgetDocument,
  Command,
  ControlPlane,
  FamiliarityDocument,
  FleetDocument,
  PlaneUpdate,
  Sample,
  SettingDocument,
  StageName,
  ToldWorkload,
} from "../../src/contract/index.ts";
import { faults, stages } from "../../src/contract/index.ts";
import { podKnobs } from "../fixtures/documents/pod-knobs.ts";

const START = Date.UTC(2026, 2, 2, 6, 0, 0);
const STEP_MS = 15_000;
const GIB = 2 ** 30;
const PAST_STEPS = 240;

export interface ScriptedPlane extends ControlPlane {
  /** Lets one step of the managed world pass. */
  step(): void;
  /** Steps since it was made, with those of its past. */
  readonly steps: number;
  close(): void;
}

interface Actor {
  workload: ToldWorkload;
  agent: AgentDocument;
  account: Account;
  twinAccount: Account;
  readonly base: number;
}

const TITLES = ["Checkout", "Product search", "Recommendations", "Image resizer"];
const TROUBLE = {
  what: "Misses its SLO since 06:57 (210 ms, promised 100 ms at p95)",
  why: "1.8 times its usual requests come; replicas are short, 6 of 9 are ready; the agent gave 3 more pods",
};

export interface Script {
  readonly workloads?: number;
  /** null: it holds still. */
  readonly everyMs?: number | null;
  /** What a shared model makes of the workloads, in their order; the rest began without one. */
  readonly familiar?: readonly FamiliarityDocument[];
  /** Told beside the workloads, whose it need not be of. */
  readonly fleet?: FleetDocument;
  /** What is told instead of an update. */
  readonly told?: (update: PlaneUpdate) => PlaneUpdate;
}

export function scriptedPlane(options: Script = {}): ScriptedPlane {
  const actors = Array.from({ length: options.workloads ?? 4 }, (_, index) => newActor(index));
  for (const [index, familiarity] of (options.familiar ?? []).entries()) {
    const actor = actors[index];
    if (actor !== undefined) actor.agent = { ...actor.agent, familiarity };
  }
  const { told = (update) => update } = options;
  const takers = new Set<(updates: readonly PlaneUpdate[]) => void>();
  const journal: PlaneUpdate[] = [];
  let steps = 0;

  const tell = (updates: readonly PlaneUpdate[]): void => {
    journal.push(...updates.filter(({ kind }) => kind !== "samples"));
    for (const take of takers) take(updates.map(told));
  };

  const stepped = (): PlaneUpdate[] => {
    steps += 1;
    const at = START + steps * STEP_MS;
    const samples = actors.map((actor) => sampleOf(actor, { at, step: steps }));
    return [
      { kind: "samples", at, samples },
      ...(steps % 4 === 0 ? actors.map((actor) => decisionOf(actor, { at, step: steps })) : []),
    ];
  };
  const past: PlaneUpdate[] = [];
  for (let step = 0; step < PAST_STEPS; step += 1) past.push(...stepped());

  const introduction = (): PlaneUpdate[] => actors.flatMap((actor) => [workloadUpdate(actor), agentUpdate(actor)]);
  journal.push(...historyEvents());
  if (options.fleet !== undefined) journal.push({ kind: "fleet", fleet: options.fleet });
  const timer = options.everyMs === null ? undefined : setInterval(() => tell(stepped()), options.everyMs ?? 100);

  return {
    worlds: [{ kind: "scripted", tasks: ["pods", "containers"], startedAt: START, speed: 60 }],
    subscribe(take) {
      take([...introduction(), ...past, ...journal].map(told));
      takers.add(take);
      return () => takers.delete(take);
    },
    command: (command, seen) =>
      Promise.resolve(carryOut(command, { seen: seen.revision, actors, tell, at: START + steps * STEP_MS })),
    trajectories: () => Promise.resolve({ ok: true, value: { items: [], next: null } }),
    readiness: () => ({ reasons: [], notes: [] }),
    step: () => tell(stepped()),
    get steps() {
      return steps;
    },
    close: () => clearInterval(timer),
  };
}

const workloadUpdate = ({ workload }: Actor): PlaneUpdate => ({ kind: "workload", workload });
const agentUpdate = ({ agent }: Actor): PlaneUpdate => ({ kind: "agent", agent });

const zero: Account = {
  steps: 0,
  violations: 0,
  cost: 0,
  sums: { cpuUsed: 0, cpuGranted: 0, memoryUsed: 0, memoryGranted: 0 },
};

function newActor(index: number): Actor {
  const id = index < TITLES.length ? (TITLES[index] ?? "").toLowerCase().replaceAll(" ", "-") : `workload-${index}`;
  const stage = stages[[2, 3, 1, 3][index % 4] ?? 0] ?? "OFFLINE";
  return {
    base: 100 + 40 * (index % 5),
    workload: {
      id,
      task: "pods",
      title: TITLES[index] ?? `Workload ${index}`,
      slo: { kind: "latency", quantile: 0.95, target: 100 + 50 * (index % 3) },
      judgedBy: null,
      objective: "least cost within the error budget",
      twinRules: { name: "hpa+vpa", title: "HPA and VPA" },
      knobs: podKnobs,
      agent: `agent-${id}`,
      release: { version: "2.4", since: START, needs: index === 2 ? "1.8 times the CPU per request" : null },
      trouble: index === 0 ? { since: START + (PAST_STEPS - 12) * STEP_MS, ...TROUBLE } : null,
      faults,
      revision: 1,
    },
    agent: agentOf(`agent-${id}`, { workload: id, stage }),
    account: zero,
    twinAccount: zero,
  };
}

function agentOf(id: string, { workload, stage }: { workload: string; stage: StageName }): AgentDocument {
  const reached = stages.indexOf(stage);
  return {
    id,
    workload,
    fallback: { name: "hpa+vpa", title: "HPA and VPA" },
    stage,
    since: START + 120 * STEP_MS,
    acting: reached >= 2 ? "learner" : "fallback",
    mode: "act",
    isPaused: false,
    history: Array.from({ length: reached }, (_, index) => ({
      at: START + (index + 1) * 40 * STEP_MS,
      from: stages[index] ?? "INITIALIZED",
      to: stages[index + 1] ?? "SERVING",
      because: ["bootstrap", "earned", "converged"][index] ?? "",
      evidence: [
        { gate: "estimate", holds: true, found: 8.12, asked: 7.4, about: "lower bound of the off-policy estimate" },
        { gate: "shadow", holds: true, found: 0.06, asked: 0.2, about: "mean distance to the fallback's actions" },
      ],
    })),
    episodes: Array.from({ length: 30 }, (_, index) => ({
      episode: index + 1,
      reward: 5.5 + 4 * (1 - Math.exp(-index / 8)) + 0.35 * Math.sin(index * 2.3),
      violations: Math.max(0, 9 - index),
      stage: index < 12 ? "OFFLINE" : index < 24 ? "ONLINE" : stage,
    })),
    thresholds: { online: 7.4, serving: 8.8, fallback: 7 },
    estimate: { at: START + 200 * STEP_MS, mean: 8.7, lower: 8.1, upper: 9.3 },
    gates: [
      { gate: "average reward", holds: true, found: 9.2, asked: 8.8, about: "mean of the last ten episodes" },
      {
        gate: "spread",
        holds: stage === "SERVING",
        found: 0.71,
        asked: 0.5,
        about: "standard deviation of the last ten episodes",
      },
    ],
    canaryBand: stage === "ONLINE" ? 0.25 : null,
    guardTripRate: 0.031,
    steering: {
      decisions: 1_000,
      asProposed: 980,
      less: 710,
      total: { decisions: 4_200, asProposed: 3_900, less: 2_000 },
    },
    rollbacks: 1,
    updates: 18_240,
    familiarity: null,
    revision: 1,
  };
}

interface When {
  readonly at: number;
  readonly step: number;
}

function sampleOf(actor: Actor, { at, step }: When) {
  const target = actor.workload.slo.kind === "latency" ? actor.workload.slo.target : 100;
  const wave = Math.sin(step / 38 + actor.base) + 0.25 * Math.sin(step / 7);
  const isTroubled = actor.workload.trouble !== null && at >= actor.workload.trouble.since;
  const load = actor.base * (2 + wave) * (isTroubled ? 1.8 : 1);
  const isLearned = actor.agent.acting === "learner";
  const jitter = ((step * 2654435761) % 97) / 97;
  const make = (lean: number, worst: number): Sample => {
    const replicas = Math.max(2, Math.ceil((load / 60) * lean));
    const latency = target * (0.45 + 0.12 * wave + 0.1 * jitter) * worst * (isTroubled ? 3 : 1);
    const use = { cpu: load * 14, memory: replicas * 0.42 * GIB * (1 + 0.1 * wave) };
    return {
      at,
      load,
      latency,
      preservation: Math.min(1, target / latency),
      expected: isLearned && lean < 1.2 ? target * (0.5 + 0.12 * wave) : null,
      ready: replicas,
      have: { replicas, cpu: 1100 * lean, memory: 0.75 * GIB * lean },
      use,
      reward: 9 - 2 * Math.max(0, latency / target - 1) - lean + 0.4 * wave,
      cost: replicas * 1.1 * lean * 0.0002,
    };
  };
  const sample = make(isLearned ? 1.05 : 1.4, isLearned ? 1 : 1.25);
  const twin = make(1.4, 1.25);
  actor.account = added(actor.account, { sample, target });
  actor.twinAccount = added(actor.twinAccount, { sample: twin, target });
  const { account, twinAccount } = actor;
  return { workload: actor.workload.id, sample, twin, account, twinAccount, budget: budgetOf(account, isTroubled) };
}

/** One in a hundred steps of seven days may miss the SLO. */
const ALLOWED = 403.2;
const budgetOf = ({ steps, violations }: Account, isTroubled: boolean): BudgetDocument => ({
  attainment: 0.99,
  windowMs: 604_800_000,
  steps,
  missed: violations,
  left: 1 - violations / ALLOWED,
  burn: isTroubled ? { short: 14.4, long: 6.1 } : { short: 0.4, long: 0.6 },
});

function added(account: Account, { sample, target }: { sample: Sample; target: number }): Account {
  const { have, use } = sample;
  const { replicas = 0, cpu = 0, memory = 0 } = have;
  const sums = {
    cpuUsed: use.cpu ?? 0,
    cpuGranted: cpu * replicas,
    memoryUsed: use.memory ?? 0,
    memoryGranted: memory * replicas,
  };
  return {
    steps: account.steps + 1,
    violations: account.violations + ((sample.latency ?? 0) > target ? 1 : 0),
    cost: account.cost + sample.cost,
    sums: Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, (account.sums[name] ?? 0) + sum])),
  };
}

function decisionOf(actor: Actor, { at, step }: When): PlaneUpdate {
  const have: SettingDocument = { replicas: 6, cpu: 1100, memory: 0.75 * GIB };
  const wish: SettingDocument = { replicas: 6 + (step % 3), cpu: 1150, memory: 0.75 * GIB };
  const isTripped = step % 20 === 0;
  const who = actor.agent.acting;
  return {
    kind: "decision",
    decision: {
      at,
      workload: actor.workload.id,
      agent: actor.agent.id,
      stage: actor.agent.stage,
      who,
      why:
        who === "learner"
          ? [
              { by: "lifecycle", rule: "training" },
              { by: "capacity", rule: "need" },
              ...(isTripped ? [{ by: "guard", rule: "step", knob: "replicas" }] : []),
            ]
          : [{ by: "lifecycle", rule: "bootstrapping" }],
      have,
      proposed: who === "learner" || actor.agent.stage === "OFFLINE" ? wish : null,
      executed: isTripped ? { ...wish, replicas: 8, cpu: 1100 } : wish,
      fallback: { replicas: 9, cpu: 1100, memory: 0.75 * GIB },
      expected: who === "learner" && actor.workload.slo.kind === "latency" ? 0.5 * actor.workload.slo.target : null,
      failure: null,
    },
  };
}

function historyEvents(): PlaneUpdate[] {
  const lines = [
    ["info", "plane.started", null, "The control plane runs against a simulated cluster at 60 times the wall's speed."],
    [
      "notice",
      "stage.changed",
      "product-search",
      "Product search went from Online to Serving: ten good episodes in a row.",
    ],
    ["warning", "guard.tripped", "recommendations", "The guard changed 3 % of the learner's wishes in the last hour."],
    ["error", "slo.missed", "checkout", "Checkout misses its SLO: load rose 80 % within five minutes."],
  ] as const;
  return lines.map(([severity, kind, workload, text], index) => ({
    kind: "event",
    event: { at: START + index * 60 * STEP_MS, severity, kind, workload, agent: null, text, evidence: null },
  }));
}

interface Place {
  readonly seen: number | null;
  readonly actors: readonly Actor[];
  readonly tell: (updates: readonly PlaneUpdate[]) => void;
  readonly at: number;
}

function carryOut(command: Command, { seen, actors, tell, at }: Place): Result<{ readonly revision: number }> {
  const actor = actors.find(({ agent, workload }) =>
    "agent" in command ? agent.id === command.agent : workload.id === command.workload,
  );
  if (actor === undefined)
    return { ok: false, failure: failure("plane.unknown-agent", "there is no such agent or workload") };
  const held = "agent" in command ? actor.agent : actor.workload;
  if (seen !== null && seen !== held.revision)
    return {
      ok: false,
      failure: failure("plane.revision", `revision ${seen} was seen, ${held.revision} holds: read it again`),
    };
  const revision = held.revision + 1;
  const tellEvent = (text: string): PlaneUpdate => ({
    kind: "event",
    event: {
      at,
      severity: "notice",
      kind: `command.${command.kind}`,
      workload: actor.workload.id,
      agent: null,
      text,
      evidence: null,
    },
  });
  if (!("agent" in command)) {
    actor.workload = { ...actor.workload, revision, ...(command.kind === "set-slo" ? { slo: command.slo } : {}) };
    tell([workloadUpdate(actor), tellEvent(`A person asked for ${command.kind}.`)]);
    return { ok: true, value: { revision } };
  }
  actor.agent = { ...changed(actor.agent, { command, at }), revision };
  tell([agentUpdate(actor), tellEvent(`A person asked for ${command.kind}.`)]);
  return { ok: true, value: { revision } };
}

type AgentCommand = Extract<Command, { readonly agent: string }>;

function changed(agent: AgentDocument, { command, at }: { command: AgentCommand; at: number }): AgentDocument {
  if (command.kind === "pause") return { ...agent, isPaused: true, acting: "fallback" };
  if (command.kind === "resume") return { ...agent, isPaused: false, acting: actorIn(agent.stage) };
  if (command.kind === "set-mode") return { ...agent, mode: command.mode };
  const to = command.kind === "promote" ? (stages[stages.indexOf(agent.stage) + 1] ?? agent.stage) : "OFFLINE";
  const change = { at, from: agent.stage, to, because: "operator", evidence: [] };
  return { ...agent, stage: to, since: at, history: [...agent.history, change], acting: actorIn(to) };
}

const actorIn = (stage: StageName): "learner" | "fallback" => (stages.indexOf(stage) >= 2 ? "learner" : "fallback");
