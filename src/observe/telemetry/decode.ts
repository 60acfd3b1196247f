/**
 * Readings from outside, believed only once every field has been looked at.
 * Owns: `unknown` to WorkloadReading, or a coded failure that names the field.
 * Not here: whether a reading is fresh (control/), what its values mean.
 *
 * Keys that are not known are left out, not refused: a newer exporter may say more, and a controller that stopped for
 * that would be worse than one that does not listen. What is known and wrong is refused whole: a pipeline that says NaN
 * about memory is not believed about latency.
 */
import type { Bytes, Failure, Millicores, Ms, PerSecond, Ratio, Result, WorkloadId } from "../../base/index.ts";
import { err, failure, failureOf, ok, parseWorkloadId } from "../../base/index.ts";
import type { OomKill, PodReading, WorkloadReading } from "./reading.ts";

export type ReadingFailure = Failure<"telemetry.malformed" | "telemetry.not-a-measure">;

export function parseReading(value: unknown): Result<WorkloadReading, ReadingFailure> {
  try {
    return ok(readingOf(new Field(value, "reading")));
  } catch (thrown) {
    const found = failureOf(thrown);
    if (thrown instanceof Refused) return err(thrown.reason);
    // A getter or a proxy of whoever made the value may throw anything.
    return err(
      failure("telemetry.malformed", `the reading can not be read: ${found?.message ?? String(thrown)}`, {
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

function readingOf(reading: Field): WorkloadReading {
  const spec = reading.get("spec");
  const use = reading.get("use");
  return {
    workload: workloadOf(reading.get("workload")),
    at: reading.get("at").amount() as Ms,
    spec: {
      replicas: spec.get("replicas").count(),
      cpu: spec.get("cpu").amount() as Millicores,
      memory: spec.get("memory").amount() as Bytes,
    },
    pods: reading.get("pods").list(podOf),
    use: {
      cpu: use.get("cpu").measure() as Ratio | null,
      memory: use.get("memory").measure() as Ratio | null,
      io: use.get("io").measure() as Ratio | null,
      network: use.get("network").measure() as Ratio | null,
    },
    latency: reading.get("latency").measure() as Ms | null,
    offered: reading.get("offered").measure() as PerSecond | null,
    completed: reading.get("completed").measure() as PerSecond | null,
    failed: reading.get("failed").measure() as PerSecond | null,
    ooms: reading.get("ooms").list(killOf),
  };
}

function podOf(pod: Field): PodReading {
  return {
    pod: pod.get("pod").name(),
    createdAt: pod.get("createdAt").amount() as Ms,
    readyAt: pod.get("readyAt").measure() as Ms | null,
    cpuLimit: pod.get("cpuLimit").amount() as Millicores,
    memoryLimit: pod.get("memoryLimit").amount() as Bytes,
    cpu: pod.get("cpu").measure() as Millicores | null,
    memory: pod.get("memory").measure() as Bytes | null,
    restarts: pod.get("restarts").count(),
  };
}

function killOf(kill: Field): OomKill {
  return {
    pod: kill.get("pod").name(),
    at: kill.get("at").amount() as Ms,
    memoryLimit: kill.get("memoryLimit").amount() as Bytes,
  };
}

function workloadOf(field: Field): WorkloadId {
  const id = parseWorkloadId(field.name());
  if (id.ok) return id.value;
  throw new Refused("telemetry.malformed", `${field.path}: ${id.failure.message}`);
}

/** One place in the value, with the path to it for the sentence. */
class Field {
  readonly #value: unknown;
  readonly path: string;

  constructor(value: unknown, path: string) {
    this.#value = value;
    this.path = path;
  }

  get(key: string): Field {
    const value = this.#value;
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw this.#wrong("an object");
    if (!Object.hasOwn(value, key))
      throw new Refused(
        "telemetry.malformed",
        `${this.path}.${key} is missing: send null for a value that was not measured`,
      );
    return new Field((value as Record<string, unknown>)[key], `${this.path}.${key}`);
  }

  list<T>(each: (item: Field) => T): T[] {
    const value = this.#value;
    if (!Array.isArray(value)) throw this.#wrong("a list");
    if (value.length > mostPods) throw this.#wrong(`a list of at most ${mostPods}`);
    return value.map((item, index) => each(new Field(item, `${this.path}[${index}]`)));
  }

  name(): string {
    const value = this.#value;
    if (typeof value !== "string" || value.length === 0 || value.length > 253)
      throw this.#wrong("a name of 1 to 253 characters");
    return value;
  }

  /** A finite number from 0. */
  amount(): number {
    const value = this.#value;
    if (typeof value !== "number") throw this.#wrong("a number");
    if (!(value >= 0 && Number.isFinite(value)))
      throw new Refused(
        "telemetry.not-a-measure",
        `${this.path} is ${value}: expected a finite number from 0, or null where nothing was measured`,
      );
    return value;
  }

  count(): number {
    const value = this.amount();
    if (!Number.isSafeInteger(value))
      throw new Refused("telemetry.not-a-measure", `${this.path} is ${value}: expected a whole number`);
    return value;
  }

  /** What may be missing. */
  measure(): number | null {
    return this.#value === null ? null : this.amount();
  }

  #wrong(expected: string): Refused {
    return new Refused("telemetry.malformed", `${this.path} is ${kindOf(this.#value)}: expected ${expected}`);
  }
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return `a ${typeof value}`;
}
