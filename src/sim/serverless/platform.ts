/**
 * The platform under both rungs: functions come and go, decisions take effect, counters are read.
 * Owns: the loop over events, decisions and what they cost in time, telemetry, the truth.
 * Not here: containers (pool.ts), activations: a rung is a flow that serves them (event/flow.ts, fluid/flow.ts).
 */
import type { Ms, Result, Rng, WorkloadId } from "../../base/index.ts";
import { CodedError, err, failure, milliseconds, ok, perSecond, ratio, seededRng } from "../../base/index.ts";
import type { FunctionReading } from "../../observe/telemetry/index.ts";
import { CounterHistory } from "../cluster/metrics/counters.ts";
import { MetricsPipeline } from "../cluster/metrics/pipeline.ts";
import { EventQueue } from "../engine/index.ts";
import { ActivationLog } from "./activation-log.ts";
import { ACTUATION } from "./calibration.ts";
import { ManagedFunction } from "./containers.ts";
import { type FunctionSample, HostedFunction } from "./hosted.ts";
import { FunctionLedger } from "./ledger.ts";
import { Pool, type PoolHooks } from "./pool.ts";
import { type FunctionSetting, settingProblem } from "./setting.ts";
import { type FilledFunction, type FilledServerless, type FunctionSpec, fillFunction } from "./spec.ts";
import { type Looked, truthOf } from "./truth.ts";
import { drawOptions } from "./work.ts";
import type { DecisionCharge, FunctionTruth, InvokerView, InvokerWork, ServerlessWorld } from "./world.ts";

/** Pool events are 0 and 1; a flow's own begin after these. */
const EVENT = { scrape: 2, decision: 3 } as const;
export const FIRST_FLOW_EVENT = 4;

/** What a flow is given. */
export interface FlowHost {
  readonly events: EventQueue;
  readonly pool: Pool;
  readonly hosted: readonly HostedFunction[];
  readonly tellsWork: boolean;
}

/** A rung: how activations are served. */
export interface Flow extends PoolHooks {
  begin(hosted: HostedFunction): void;
  end(hosted: HostedFunction): void;
  happen(kind: number, subject: number): void;
  /** Brings what is counted while activations run up to now. */
  settle(now: number): void;
  /** Since the last call, which was so long ago; absent where nobody keeps it. */
  takeWork?(over: number): readonly InvokerWork[];
}

interface Decision {
  readonly hosted: HostedFunction;
  readonly set: Partial<FunctionSetting>;
}

const AT_ONCE: DecisionCharge = { takes: milliseconds(0), inTurn: false };

export class Platform implements ServerlessWorld {
  events = 0;
  readonly #options: FilledServerless;
  readonly #queue = new EventQueue();
  readonly #pool: Pool;
  readonly #flow: Flow;
  readonly #rng: Rng;
  readonly #hosted: HostedFunction[] = [];
  readonly #byId = new Map<WorkloadId, HostedFunction>();
  readonly #lastLooks = new Map<HostedFunction, Looked>();
  readonly #decisions = new Map<number, Decision>();
  readonly #log = new ActivationLog();
  #nextDecision = 0;
  #turnEnds = 0;
  #now = 0;
  #workTaken = 0;

  constructor(options: FilledServerless, makeFlow: (host: FlowHost) => Flow) {
    this.#options = options;
    const { invokers, keepAlive, seed, tellsWork } = options;
    this.#rng = seededRng(seed).fork("serverless");
    this.#pool = new Pool({ invokers, events: this.#queue, rng: this.#rng.fork("starts"), keepAlive });
    this.#flow = makeFlow({ events: this.#queue, pool: this.#pool, hosted: this.#hosted, tellsWork });
    this.#pool.attach(this.#flow);
    for (const spec of options.functions) this.#pool.begin(this.#host(spec).owner);
  }

  get now(): Ms {
    return milliseconds(this.#options.start + this.#now);
  }

  get functions(): readonly WorkloadId[] {
    return [...this.#byId.keys()];
  }

  advance(until: Ms): void {
    const end = until - this.#options.start;
    if (!(end >= this.#now)) throw new RangeError(`time does not go back from ${this.now} to ${until}`);
    const queue = this.#queue;
    while (queue.nextAt <= end) {
      queue.pop();
      this.#now = queue.at;
      this.#pool.now = queue.at;
      this.events++;
      this.#happen(queue.kind, queue.subject);
      this.#pool.retry();
    }
    this.#now = end;
    this.#pool.now = end;
  }

  read(workload: WorkloadId): FunctionReading {
    const { owner, pipeline, ledger } = this.#find(workload);
    const sample = pipeline.newest(this.#now);
    const { id, slo } = owner.spec;
    const rate = (value: number | null | undefined) => (value == null ? null : perSecond(value));
    const share = (value: number | null | undefined) => (value == null ? null : ratio(value));
    const none = { latency: null, execution: null, waiting: null, coldStart: null };
    return {
      workload: id,
      at: milliseconds(this.#options.start + (sample?.at ?? 0)),
      setting: owner.setting,
      slo,
      ready: sample?.ready ?? owner.ready,
      starting: sample?.starting ?? owner.starting,
      use: { cpu: share(sample?.cpu), memory: share(sample?.memory) },
      ...(sample ? ledger.tails(sample.at) : none),
      offered: rate(sample?.offered),
      completed: rate(sample?.completed),
      failed: rate(sample?.failed),
      kills: sample?.kills ?? 0,
    };
  }

  setting(workload: WorkloadId): FunctionSetting {
    return this.#find(workload).owner.setting;
  }

  apply(workload: WorkloadId, set: Partial<FunctionSetting>, charge: DecisionCharge = AT_ONCE): Result<Ms> {
    const hosted = this.#byId.get(workload);
    if (hosted === undefined) return unknown(workload);
    const problem = settingProblem({ ...hosted.owner.setting, ...set });
    if (problem !== undefined) return err(failure("serverless.setting", `the function ${workload} ${problem}`));
    const { takes, inTurn } = charge;
    const begins = inTurn ? Math.max(this.#now, this.#turnEnds) : this.#now;
    const decided = begins + takes;
    if (inTurn) this.#turnEnds = decided;
    const at = decided + ACTUATION;
    this.#decisions.set(this.#nextDecision, { hosted, set });
    this.#queue.schedule(at, EVENT.decision, this.#nextDecision++);
    return ok(milliseconds(this.#options.start + at));
  }

  invokers(): readonly InvokerView[] {
    return this.#pool.invokers.map((invoker) => ({
      invoker: invoker.spec.name,
      cores: invoker.spec.cores,
      memory: invoker.spec.memory,
      room: invoker.room,
      tenants: this.#hosted.flatMap(({ owner }) => {
        const active = owner.members.filter((container) => container.invoker === invoker).length;
        const spare = owner.spares.filter((container) => container.invoker === invoker).length;
        return active + spare > 0 ? [{ workload: owner.spec.id, active, spare }] : [];
      }),
    }));
  }

  work(): readonly InvokerWork[] | null {
    this.#flow.settle(this.#now);
    const over = this.#now - this.#workTaken;
    this.#workTaken = this.#now;
    return this.#options.tellsWork ? (this.#flow.takeWork?.(over) ?? null) : null;
  }

  add(spec: FunctionSpec): Result<void> {
    if (this.#byId.has(spec.id))
      return err(failure("serverless.function", `the function ${spec.id} is there already: give it another id`));
    const filled = fillFunction(spec);
    if (!filled.ok) return filled;
    this.#pool.reconcile(this.#host(filled.value).owner);
    return ok(undefined);
  }

  remove(workload: WorkloadId): Result<void> {
    const hosted = this.#byId.get(workload);
    if (hosted === undefined) return unknown(workload);
    this.#byId.delete(workload);
    this.#lastLooks.delete(hosted);
    hosted.owner.isGone = true;
    hosted.dropAll(this.#now);
    this.#flow.end(hosted);
    this.#pool.reconcile(hosted.owner);
    this.#pool.retry();
    return ok(undefined);
  }

  takeActivations() {
    return this.#log.take();
  }

  truth(workload: WorkloadId): FunctionTruth {
    const hosted = this.#find(workload);
    this.#flow.settle(this.#now);
    hosted.owner.settle(this.#now);
    const last = this.#lastLooks.get(hosted);
    const { looked, truth } = truthOf(hosted, { now: this.#now, start: this.#options.start }, last);
    this.#lastLooks.set(hosted, looked);
    return truth;
  }

  #host(spec: FilledFunction): HostedFunction {
    const { invokers, step, start, window, overhead, spread, metrics } = this.#options;
    const index = this.#hosted.length;
    const hosted = new HostedFunction({
      owner: new ManagedFunction(index, spec, { invokers: invokers.length, now: this.#now }),
      ledger: new FunctionLedger({ slo: spec.slo, window }),
      log: this.#log,
      draw: drawOptions(spec.profile, overhead, spread),
      pipeline: new MetricsPipeline<FunctionSample>({ delay: milliseconds(metrics.delay) }),
      counters: new CounterHistory(window),
      rng: this.#rng.fork(spec.id),
      step,
      start,
      from: this.#now,
    });
    this.#hosted.push(hosted);
    this.#byId.set(spec.id, hosted);
    this.#flow.begin(hosted);
    this.#queue.schedule(this.#now + metrics.interval, EVENT.scrape, index);
    return hosted;
  }

  #happen(kind: number, subject: number): void {
    if (kind >= FIRST_FLOW_EVENT) this.#flow.happen(kind, subject);
    else if (kind === EVENT.scrape) this.#scrape(this.#hosted[subject]!);
    else if (kind === EVENT.decision) this.#decide(subject);
    else this.#pool.happen(kind, subject);
  }

  #decide(number: number): void {
    const decision = this.#decisions.get(number);
    this.#decisions.delete(number);
    if (decision === undefined || decision.hosted.owner.isGone) return;
    const { owner } = decision.hosted;
    this.#flow.settle(this.#now);
    this.#pool.resize(owner, { ...owner.setting, ...decision.set });
    for (const invoker of this.#pool.invokers) this.#flow.disturbed(invoker);
    // A function that goes to zero keeps nobody who has nothing to do, and one that leaves it may have somebody waiting.
    if (decision.hosted.waiting > 0 && owner.idle === 0) this.#pool.demand(owner, decision.hosted.waiting);
  }

  #scrape(hosted: HostedFunction): void {
    const { owner, ledger, counters, pipeline, noise } = hosted;
    if (owner.isGone) return;
    const { interval, missing, noise: sigma } = this.#options.metrics;
    const now = this.#now;
    this.#queue.schedule(now + interval, EVENT.scrape, owner.index);
    hosted.dropStale(now);
    this.#flow.settle(now);
    owner.settle(now);
    const { arrived, completed, ended } = ledger;
    const { cpuUsed, cpuGranted, memoryUsed, memoryGranted, kills } = owner;
    counters.add(now, [arrived, completed, ended - completed, cpuUsed, cpuGranted, memoryUsed, memoryGranted, kills]);
    // Drawn whatever comes of it, so that what one function meets does not shift with what it does.
    const isMissing = noise.next() < missing;
    const factor = () => Math.exp(sigma * noise.normal() - (sigma * sigma) / 2);
    const [cpuNoise, memoryNoise] = [factor(), factor()];
    const rates = counters.rates();
    const of = (used: number, granted: number, times: number) =>
      isMissing || rates === null || !(rates[granted]! > 0) ? null : (rates[used]! / rates[granted]!) * times;
    pipeline.add({
      at: now,
      cpu: of(3, 4, cpuNoise),
      memory: of(5, 6, memoryNoise),
      offered: rates?.[0] ?? null,
      completed: rates?.[1] ?? null,
      failed: rates?.[2] ?? null,
      kills: Math.round(((rates?.[7] ?? 0) * Math.min(this.#options.window, now)) / 1_000),
      ready: owner.ready,
      starting: owner.starting,
    });
  }

  #find(workload: WorkloadId): HostedFunction {
    const hosted = this.#byId.get(workload);
    if (hosted === undefined) throw new CodedError(unknown(workload).failure);
    return hosted;
  }
}

const unknown = (workload: WorkloadId) =>
  err(failure("serverless.unknown-function", `there is no function ${workload} on this platform: check its id`));
