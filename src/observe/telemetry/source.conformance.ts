/** The suite that every telemetry source passes: `telemetryConformance("simulated cluster", () => …)` in a test file. */
import { describe, expect, test } from "vitest";
import type { WorkloadId } from "../../base/index.ts";
import { parseWorkloadId, unwrap } from "../../base/index.ts";
import { parseReading } from "./decode.ts";
import type { TelemetrySource } from "./source.ts";

export interface TelemetryWorld {
  readonly source: TelemetrySource;
  /** A workload that has run for a minute or more. */
  readonly workload: WorkloadId;
}

export function telemetryConformance(name: string, make: () => TelemetryWorld | Promise<TelemetryWorld>): void {
  const signal = new AbortController().signal;
  describe(`the telemetry of ${name}`, () => {
    test("gives readings that survive the decoder and JSON", async () => {
      const { source, workload } = await make();
      const reading = unwrap(await source.read(workload, signal));
      expect(reading).toMatchObject({ workload });
      expect(parseReading(JSON.parse(JSON.stringify(reading)))).toEqual({ ok: true, value: reading });
    });

    test("answers with a coded failure for a workload that does not exist", async () => {
      const { source } = await make();
      const nobody = unwrap(parseWorkloadId("nobody-at-all"));
      expect(await source.read(nobody, signal)).toMatchObject({
        ok: false,
        failure: { code: "telemetry.unknown-workload" },
      });
    });

    test("does not keep waiting once it was given up", async () => {
      const { source, workload } = await make();
      expect(await source.read(workload, AbortSignal.abort())).toMatchObject({
        ok: false,
        failure: { code: "telemetry.aborted", retry: true },
      });
    });
  });
}
