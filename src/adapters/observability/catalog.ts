/**
 * Every metric there is: its name, its kind, its labels and what it says.
 * Owns: the names, by the conventions of Prometheus (base units, the unit in the name, `_total` for what only grows).
 * Not here: where the values come from (plane-metrics.ts), how they are written (registry.ts). docs/guide/observing.md and
 * deploy/ speak of exactly these; a test compares them.
 */

export interface MetricSpec {
  readonly name: `coxswain_${string}`;
  readonly type: "gauge" | "counter" | "histogram";
  readonly labels: readonly string[];
  readonly help: string;
}

type Described = readonly [name: MetricSpec["name"], labels: readonly string[], help: string];

const gauge = (...[name, labels, help]: Described): MetricSpec => ({ name, type: "gauge", labels, help });
const counter = (...[name, labels, help]: Described): MetricSpec => ({ name, type: "counter", labels, help });
const histogram = (...[name, labels, help]: Described): MetricSpec => ({ name, type: "histogram", labels, help });

/** `run` is "own" for what the agent manages and "twin" for the same requests under its fallback alone. */
const perRun = ["workload", "run"] as const;
const perAgent = ["agent", "workload"] as const;

export const catalog = {
  // Workloads
  preservation: gauge(
    "coxswain_workload_slo_preservation_ratio",
    perRun,
    "SLO preservation of the newest step; 1 is met",
  ),
  latency: gauge("coxswain_workload_latency_seconds", perRun, "Latency of the newest step at the quantile of the SLO"),
  load: gauge("coxswain_workload_load_requests_per_second", perRun, "Requests per second in the newest step"),
  replicas: gauge("coxswain_workload_replicas", perRun, "Replicas asked for"),
  ready: gauge("coxswain_workload_ready_replicas", perRun, "Replicas that serve"),
  cpuLimit: gauge("coxswain_workload_cpu_limit_cores", perRun, "CPU limit of one replica"),
  memoryLimit: gauge("coxswain_workload_memory_limit_bytes", perRun, "Memory limit of one replica"),
  knob: gauge(
    "coxswain_workload_knob",
    [...perRun, "knob"],
    "Setting of a knob that has no metric of its own, in the unit that /v1/workloads names for it",
  ),
  reward: gauge("coxswain_workload_reward", perRun, "Reward of the newest step that has one"),
  sloTarget: gauge(
    "coxswain_workload_slo_latency_target_seconds",
    ["workload"],
    "Latency that the SLO allows; absent where the SLO is of another kind",
  ),
  budgetLeft: gauge(
    "coxswain_workload_budget_left_ratio",
    ["workload"],
    "Share of the error budget that is left; 1 is all of it, below 0 it is overspent; absent without an SLO of its own",
  ),
  budgetBurn: gauge(
    "coxswain_workload_budget_burn",
    ["workload", "window"],
    "How fast the error budget is spent, over the last hour (short) and the last six (long); at 1 it lasts for just its seven days",
  ),
  trouble: gauge("coxswain_workload_in_trouble", ["workload"], "1 while the control plane says that it is in trouble"),
  steps: counter("coxswain_workload_steps_total", perRun, "Control steps measured"),
  violations: counter("coxswain_workload_slo_violations_total", perRun, "Control steps in which the SLO was missed"),
  cost: counter("coxswain_workload_cost_dollars_total", perRun, "What was granted, in dollars"),
  cpuUsed: counter("coxswain_workload_cpu_used_core_seconds_total", perRun, "CPU used, in core-seconds"),
  cpuGranted: counter(
    "coxswain_workload_cpu_granted_core_seconds_total",
    perRun,
    "CPU granted, in core-seconds; used over granted is the utilisation",
  ),
  memoryUsed: counter("coxswain_workload_memory_used_byte_seconds_total", perRun, "Memory used, in byte-seconds"),
  memoryGranted: counter(
    "coxswain_workload_memory_granted_byte_seconds_total",
    perRun,
    "Memory granted, in byte-seconds",
  ),
  // Agents
  stage: gauge(
    "coxswain_agent_stage",
    [...perAgent, "stage"],
    "1 for the stage that the agent is in, 0 for the others",
  ),
  acting: gauge("coxswain_agent_acting", [...perAgent, "who"], "1 for who acts: learner, fallback or nobody"),
  paused: gauge("coxswain_agent_paused", perAgent, "1 while a person has stopped it"),
  tripRatio: gauge(
    "coxswain_agent_guard_trip_ratio",
    perAgent,
    "Share of its newest proposals that the guard had to change",
  ),
  rollbacks: counter("coxswain_agent_rollbacks_total", perAgent, "Times it was sent back to an earlier stage"),
  steered: counter(
    "coxswain_agent_decisions_total",
    [...perAgent, "as_proposed"],
    "Decisions in which its learner acted, by whether every knob was set as the learner proposed",
  ),
  updates: counter("coxswain_agent_training_updates_total", perAgent, "Gradient updates of its policy"),
  // Decisions
  decisions: counter("coxswain_decisions_total", ["who", "why"], "Decisions, by who acted and the first reason"),
  failedActions: counter(
    "coxswain_actions_failed_total",
    ["workload"],
    "Decisions that the actuator could not carry out",
  ),
  guardChanges: counter(
    "coxswain_guard_changes_total",
    ["rule", "knob"],
    "Values that the guard changed on their way to the actuator",
  ),
  guardRefusals: counter("coxswain_guard_refusals_total", ["reason"], "Proposals that the guard refused as a whole"),
  shieldChanges: counter(
    "coxswain_shield_changes_total",
    ["rule"],
    "Proposals of learners that a rule of the shield changed",
  ),
  takeovers: counter(
    "coxswain_takeovers_total",
    ["reason"],
    "Times the fallback took over from an ONLINE or SERVING learner",
  ),
  events: counter("coxswain_events_total", ["kind", "severity"], "Events of the control plane"),
  // The loop
  ticks: histogram("coxswain_tick_duration_seconds", [], "Wall time of one decision of one agent"),
  turns: histogram("coxswain_turn_duration_seconds", [], "Wall time of one turn: read, decide, actuate, record"),
  skipped: counter("coxswain_turns_skipped_total", [], "Turns left out because an earlier one was not over"),
  crashes: counter("coxswain_agent_crashes_total", [], "Turns in which an agent threw"),
  lag: gauge(
    "coxswain_loop_lag_seconds",
    [],
    "By how much the loop's thread was late, at worst, since the last report",
  ),
  portFailures: counter("coxswain_port_failures_total", ["port"], "Times a port began to fail, or failed differently"),
  portFailing: gauge("coxswain_port_failing_agents", ["port"], "Agents for which the port is failing now"),
  abandoned: gauge("coxswain_port_calls_abandoned", [], "Calls given up at their deadline that have not returned"),
  trainingRounds: counter(
    "coxswain_training_rounds_total",
    ["outcome"],
    "Rounds of training: succeeded, failed, or turned away for want of a slot",
  ),
  trainingUnderWay: gauge("coxswain_training_rounds_under_way", [], "Rounds of training under way"),
  recorderWaiting: gauge("coxswain_recorder_waiting", [], "Steps and rewards that wait for the trajectory store"),
  recorded: counter(
    "coxswain_recorder_records_total",
    ["outcome"],
    "Steps and rewards: durable, lost by the store, or refused because too many waited",
  ),
  reopened: counter("coxswain_recorder_reopened_total", [], "Times the writer to the store was replaced"),
  outboxWaiting: gauge("coxswain_outbox_waiting", [], "Events of the loop that wait for their sink"),
  outbox: counter("coxswain_outbox_events_total", ["outcome"], "Events of the loop: delivered, dropped or lost"),
  // The API
  requests: counter(
    "coxswain_http_requests_total",
    ["method", "route", "status"],
    "Requests that the API answered; the route is its pattern",
  ),
  requestTimes: histogram(
    "coxswain_http_request_duration_seconds",
    ["method", "route", "status"],
    "Wall time from a request's arrival to the beginning of its answer",
  ),
  crowded: counter(
    "coxswain_http_connections_closed_total",
    [],
    "Connections that were closed, or not taken, to make room for others",
  ),
  // This page itself
  unlisted: gauge(
    "coxswain_metrics_unlisted",
    ["of"],
    "Workloads or agents beyond the number that this page has room for",
  ),
} as const satisfies Record<string, MetricSpec>;

export type MetricKey = keyof typeof catalog;
