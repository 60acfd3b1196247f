/**
 * Readings from outside, believed only once every field has been looked at.
 * Owns: `unknown` to WorkloadReading or FunctionReading, or a coded failure that names the field.
 * Not here: whether a reading is fresh (control/), what its values mean.
 *
 * Keys that are not known are left out, not refused: a newer exporter may say more, and a controller that stopped for
 * that would be worse than one that does not listen. What is known and wrong is refused whole: a pipeline that says NaN
 * about memory is not believed about latency.
 */
import type { Bytes, Failure, Millicores, Ms, PerSecond, Ratio, Result, WorkloadId } from "../../base/index.ts";
import { err, failure, failureOf, ok, parseWorkloadId } from "../../base/index.ts";
import type { FunctionReading } from "./function-reading.ts";
import type { OomKill, PodReading, ResizeState, WorkloadReading } from "./reading.ts";

export type ReadingFailure = Failure<"telemetry.malformed" | "telemetry.not-a-measure">;

export const parseReading = (value: unknown): Result<WorkloadReading, ReadingFailure> => parsed(value, readingOf);

export const parseFunctionReading = (value: unknown): Result<FunctionReading, ReadingFailure> =>
  parsed(value, functionReadingOf);

function parsed<R>(value: unknown, of: (reading: Place) => R): Result<R, ReadingFailure> {
  try {
    return ok(of(new Place(value, () => "reading")));
  } catch (thrown) {
    const found = failureOf(thrown);
    if (thrown instanceof Refused) return err(thrown.reason);
    // A getter or a proxy of whoever made the value may throw anything.
    return err(
      failure("telemetry.malformed", `the reading cannot be read: ${found?.message ?? String(thrown)}`, {
        cause: thrown,
      }),
    );
  }
}

/** Carries the first problem out of the nested fields; never leaves this file. */
class Refused extends Error {
  readonly reason: ReadingFailure;

  constructor(code: ReadingFailure["code"], message: string) {
    super(message);
    this.reason = failure(code, message);
  }
}

const mostPods = 10_000;

function readingOf(reading: Place): WorkloadReading {
  const spec = reading.inner("spec");
  const use = reading.inner("use");
  return {
    workload: workloadOf(reading),
    at: reading.amount("at") as Ms,
    spec: {
      replicas: spec.count("replicas"),
      cpu: spec.amount("cpu") as Millicores,
      memory: spec.amount("memory") as Bytes,
    },
    pods: reading.list("pods", podOf),
    use: {
      cpu: use.measure("cpu") as Ratio | null,
      memory: use.measure("memory") as Ratio | null,
      io: use.measure("io") as Ratio | null,
      network: use.measure("network") as Ratio | null,
    },
    latency: reading.measure("latency") as Ms | null,
    offered: reading.measure("offered") as PerSecond | null,
    completed: reading.measure("completed") as PerSecond | null,
    failed: reading.measure("failed") as PerSecond | null,
    ooms: reading.list("ooms", killOf),
  };
}

function podOf(pod: Place): PodReading {
  const resize = pod.oneOf("resize", resizeStates);
  const reading: PodReading = {
    pod: pod.name("pod"),
    createdAt: pod.amount("createdAt") as Ms,
    readyAt: pod.measure("readyAt") as Ms | null,
    cpuLimit: pod.amount("cpuLimit") as Millicores,
    memoryLimit: pod.amount("memoryLimit") as Bytes,
    cpu: pod.measure("cpu") as Millicores | null,
    memory: pod.measure("memory") as Bytes | null,
    restarts: pod.count("restarts"),
  };
  return resize === undefined ? reading : { ...reading, resize };
}

const resizeStates: readonly ResizeState[] = ["in-progress", "deferred", "infeasible"];

function killOf(kill: Place): OomKill {
  return {
    pod: kill.name("pod"),
    at: kill.amount("at") as Ms,
    memoryLimit: kill.amount("memoryLimit") as Bytes,
  };
}

function functionReadingOf(reading: Place): FunctionReading {
  const setting = reading.inner("setting");
  const use = reading.inner("use");
  const time = (field: string) => reading.measure(field) as Ms | null;
  const rate = (field: string) => reading.measure(field) as PerSecond | null;
  return {
    workload: workloadOf(reading),
    at: reading.amount("at") as Ms,
    setting: {
      shares: setting.amount("shares"),
      memory: setting.amount("memory"),
      containers: setting.count("containers"),
    },
    slo: reading.amount("slo") as Ms,
    ready: reading.count("ready"),
    starting: reading.count("starting"),
    use: { cpu: use.measure("cpu") as Ratio | null, memory: use.measure("memory") as Ratio | null },
    latency: time("latency"),
    execution: time("execution"),
    waiting: time("waiting"),
    coldStart: time("coldStart"),
    offered: rate("offered"),
    completed: rate("completed"),
    failed: rate("failed"),
    kills: reading.count("kills"),
  };
}

function workloadOf(reading: Place): WorkloadId {
  const id = parseWorkloadId(reading.name("workload"));
  if (id.ok) return id.value;
  throw new Refused("telemetry.malformed", `${reading.pathOf("workload")}: ${id.failure.message}`);
}

/**
 * An object within the value, asked for its fields. Where it lies is only put into words when something is wrong: a
 * reading has some fifty fields, and every agent reads one in every turn.
 */
class Place {
  readonly #value: Record<string, unknown>;
  readonly #path: () => string;

  constructor(value: unknown, path: () => string) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(value, path(), "an object");
    this.#value = value as Record<string, unknown>;
    this.#path = path;
  }

  pathOf(key: string): string {
    return `${this.#path()}.${key}`;
  }

  inner(key: string): Place {
    return new Place(this.#get(key), () => this.pathOf(key));
  }

  list<T>(key: string, each: (item: Place) => T): T[] {
    const value = this.#get(key);
    if (!Array.isArray(value)) throw wrong(value, this.pathOf(key), "a list");
    if (value.length > mostPods) throw wrong(value, this.pathOf(key), `a list of at most ${mostPods}`);
    return value.map((item, index) => each(new Place(item, () => `${this.pathOf(key)}[${index}]`)));
  }

  name(key: string): string {
    const value = this.#get(key);
    if (typeof value !== "string" || value.length === 0 || value.length > 253)
      throw wrong(value, this.pathOf(key), "a name of 1 to 253 characters");
    return value;
  }

  /** A finite number from 0. */
  amount(key: string): number {
    return this.#amountOf(this.#get(key), key);
  }

  count(key: string): number {
    const value = this.amount(key);
    if (!Number.isSafeInteger(value))
      throw new Refused("telemetry.not-a-measure", `${this.pathOf(key)} is ${value}: expected a whole number`);
    return value;
  }

  /** What may be missing. */
  measure(key: string): number | null {
    const value = this.#get(key);
    return value === null ? null : this.#amountOf(value, key);
  }

  /** What may be absent; an unknown word counts as absent, for a newer exporter may say more. */
  oneOf<T extends string>(key: string, known: readonly T[]): T | undefined {
    const value = Object.hasOwn(this.#value, key) ? this.#value[key] : undefined;
    return known.find((one) => one === value);
  }

  #get(key: string): unknown {
    if (!Object.hasOwn(this.#value, key)) throw this.#missing(key);
    return this.#value[key];
  }

  #amountOf(value: unknown, key: string): number {
    if (typeof value !== "number") throw wrong(value, this.pathOf(key), "a number");
    if (!(value >= 0 && Number.isFinite(value)))
      throw new Refused(
        "telemetry.not-a-measure",
        `${this.pathOf(key)} is ${value}: expected a finite number from 0, or null where nothing was measured`,
      );
    return value;
  }

  #missing(key: string): Refused {
    return new Refused(
      "telemetry.malformed",
      `${this.pathOf(key)} is missing: send null for a value that was not measured`,
    );
  }
}

const wrong = (value: unknown, path: string, expected: string): Refused =>
  new Refused("telemetry.malformed", `${path} is ${kindOf(value)}: expected ${expected}`);

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return `a ${typeof value}`;
}
