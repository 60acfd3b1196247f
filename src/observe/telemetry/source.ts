/**
 * The port through which readings come in: from a simulator, from Prometheus, from a metrics server.
 * Owns: the contract, and a source in memory for tests and for replayed telemetry.
 * Not here: decoding what came from outside (decode.ts: every adapter uses it), the adapters.
 */
import type { Result, WorkloadId } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { WorkloadReading } from "./reading.ts";

export interface TelemetrySource {
  /**
   * The newest reading there is. It may be old: its `at` says so, and judging that is the caller's.
   * A workload that is not there is `telemetry.unknown-workload`; a wait that was given up is `telemetry.aborted`.
   * What a reading is depends on what is managed, so it is unknown until the task has parsed it.
   */
  read(workload: WorkloadId, signal: AbortSignal): Promise<Result<unknown>>;
}

export interface MemoryTelemetry extends TelemetrySource {
  read(workload: WorkloadId, signal: AbortSignal): Promise<Result<WorkloadReading>>;
  put(reading: WorkloadReading): void;
  remove(workload: WorkloadId): void;
}

export function memoryTelemetry(readings: Iterable<WorkloadReading> = []): MemoryTelemetry {
  const newest = new Map<WorkloadId, WorkloadReading>();
  for (const reading of readings) newest.set(reading.workload, reading);
  return {
    put: (reading) => {
      newest.set(reading.workload, reading);
    },
    remove: (workload) => {
      newest.delete(workload);
    },
    read: (workload, signal) => {
      if (signal.aborted)
        return Promise.resolve(
          err(failure("telemetry.aborted", "the reading was given up before it came", { retry: true })),
        );
      const reading = newest.get(workload);
      if (reading !== undefined) return Promise.resolve(ok(reading));
      return Promise.resolve(
        err(
          failure(
            "telemetry.unknown-workload",
            `there are no readings of workload ${workload}: it was removed, or its name is wrong`,
          ),
        ),
      );
    },
  };
}
