/**
 * Readings of functions from the activation records of their platform.
 * Owns: when records are asked for, one question for all functions; what a reading says where records are silent.
 * Not here: the records (a port), their arithmetic (activation-window.ts), the settings (a port).
 *
 * Records tell of calls that have ended. What waits, how many containers are idle and how busy they are is not in them: `ready` is
 * the most containers that were seen at work at once, `starting` is 0, and utilisation is null.
 */
import type { Clock, Failure, Ms, Result, WorkloadId } from "../../base/index.ts";
import { err, failure, milliseconds, ok, perSecond, seconds } from "../../base/index.ts";
import type { ActivationCursor, ActivationSource } from "./activation.ts";
import { ActivationWindow } from "./activation-window.ts";
import type { FunctionReading } from "./function-reading.ts";
import type { TelemetrySource } from "./source.ts";

export interface ActivationTelemetryOptions {
  readonly source: ActivationSource;
  /** What a function is asked to be now: its actuator's `read`. */
  readonly setting: (workload: WorkloadId, signal: AbortSignal) => Promise<Result<unknown>>;
  /** Of each function that is managed. */
  readonly slos: ReadonlyMap<WorkloadId, Ms>;
  readonly clock: Clock;
  readonly window?: Ms;
  /** Records are asked for at most so often, for all functions together. */
  readonly every?: Ms;
}

/** Clocks of the platform and of this machine may differ by this much. */
const TOLERANCE = seconds(5);

export function activationTelemetry(options: ActivationTelemetryOptions): TelemetrySource {
  const telemetry = new ActivationTelemetry(options);
  return { read: (workload, signal) => telemetry.read(workload, signal) };
}

class ActivationTelemetry {
  readonly #options: ActivationTelemetryOptions;
  readonly #window: Ms;
  readonly #every: Ms;
  readonly #windows = new Map<WorkloadId, ActivationWindow>();
  #cursor: ActivationCursor;
  /** From when on nothing is missing. */
  #from: Ms;
  #asked: { readonly at: Ms; readonly answer: Promise<Result<Ms>> } | undefined;

  constructor(options: ActivationTelemetryOptions) {
    this.#options = options;
    this.#window = options.window ?? seconds(30);
    this.#every = options.every ?? seconds(1);
    // Records of the last window are there already, if anybody called.
    this.#from = milliseconds(options.clock.now() - this.#window);
    this.#cursor = { since: this.#from, seen: [] };
    for (const workload of options.slos.keys())
      this.#windows.set(workload, new ActivationWindow({ window: this.#window }));
  }

  async read(workload: WorkloadId, signal: AbortSignal): Promise<Result<FunctionReading>> {
    const slo = this.#options.slos.get(workload);
    const window = this.#windows.get(workload);
    if (slo === undefined || window === undefined)
      return err(failure("telemetry.unknown-workload", `${workload} has no SLO here: add it to the managed functions`));
    const given = whenAborted(signal);
    try {
      const [at, setting] = await Promise.race([
        Promise.all([this.#ask(), this.#options.setting(workload, signal)]),
        given.up,
      ]);
      if (!at.ok) return at;
      if (!setting.ok) return setting;
      const summary = window.summary(at.value, this.#from);
      const { completed = null, failed = null, kills = 0, atWork = 0 } = summary ?? {};
      return ok({
        workload,
        at: at.value,
        setting: setting.value as FunctionReading["setting"],
        slo,
        ready: atWork,
        starting: 0,
        use: { cpu: null, memory: null },
        latency: summary?.latency ?? null,
        execution: summary?.execution ?? null,
        waiting: summary?.waiting ?? null,
        coldStart: summary?.coldStart ?? null,
        offered: completed === null || failed === null ? null : perSecond(completed + failed),
        completed,
        failed,
        kills,
      });
    } catch (thrown) {
      if (thrown !== given.mark) throw thrown;
      return err(failure("telemetry.aborted", "the reading was given up before it came", { retry: true }));
    } finally {
      given.end();
    }
  }

  /** Many agents look in the same moment: they share one question, which nobody's impatience ends. */
  #ask(): Promise<Result<Ms>> {
    const now = this.#options.clock.now();
    if (this.#asked !== undefined && now - this.#asked.at < this.#every && now >= this.#asked.at)
      return this.#asked.answer;
    const asked = { at: now, answer: this.#fetch(now) };
    this.#asked = asked;
    return asked.answer.then((answer) => {
      // A failure is not kept: the next one who looks asks anew.
      if (!answer.ok && this.#asked === asked) this.#asked = undefined;
      return answer;
    });
  }

  async #fetch(now: Ms): Promise<Result<Ms>> {
    const before = this.#asked?.answer;
    // One after the other, or two would go on from the same cursor.
    if (before !== undefined) await before;
    const batch = await this.#options.source.activations(this.#cursor, new AbortController().signal);
    if (!batch.ok) return batch;
    const { records, cursor, isComplete } = batch.value;
    this.#cursor = cursor;
    if (!isComplete) return err(this.#beginAnew(now));
    const newest = records.at(-1);
    if (newest !== undefined && newest.arrivedAt > now + TOLERANCE)
      return err(failure("telemetry.future", "records are of calls that came later than now: set the clocks right"));
    for (const [workload, window] of this.#windows)
      window.add(records.filter((record) => record.workload === workload));
    return ok(now);
  }

  /** With a hole in it a window would say that fewer called than did. */
  #beginAnew(now: Ms): Failure {
    this.#from = now;
    for (const workload of this.#windows.keys())
      this.#windows.set(workload, new ActivationWindow({ window: this.#window }));
    return failure(
      "functions.platform.behind",
      "there were more activation records than are read at once, and the oldest are lost: look more often, or read more",
      { retry: true },
    );
  }
}

/** A promise that rejects with a mark when the signal aborts, and lets go of the signal in the end. */
function whenAborted(signal: AbortSignal) {
  const mark = new Error("given up");
  let stop: () => void = () => undefined;
  const up = new Promise<never>((_, reject) => {
    stop = () => reject(mark);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  up.catch(() => undefined);
  return { mark, up, end: () => signal.removeEventListener("abort", stop) };
}
