import { expect, test } from "vitest";
import {
  type Bytes,
  type Ms,
  millicores,
  milliseconds,
  parseWorkloadId,
  seconds,
  unwrap,
} from "../../../../base/index.ts";
import type { InstanceReading, WorkloadReading } from "../../../../observe/telemetry/index.ts";
import type { ServicesView } from "../port.ts";
import { serviceHpa, serviceHpaController } from "./service-hpa.ts";

/** One service with a replica of one core, ready long ago, that uses so many millicores. */
const reading = (service: string, cpu: number, at: Ms): WorkloadReading => ({
  workload: unwrap(parseWorkloadId(service)),
  at,
  spec: { replicas: 1, cpu: millicores(1_000), memory: 1e9 as Bytes },
  pods: [
    {
      pod: `${service}-0`,
      createdAt: milliseconds(0),
      readyAt: milliseconds(1),
      restarts: 0,
      cpuLimit: millicores(1_000),
      memoryLimit: 1e9 as Bytes,
      cpu: millicores(cpu),
      memory: 1e8 as Bytes,
    },
  ],
  use: { cpu: null, memory: null, io: null, network: null },
  latency: null,
  offered: null,
  completed: null,
  failed: null,
  ooms: [],
});

function view(uses: Readonly<Record<string, number>>, now: Ms): ServicesView {
  return {
    now,
    readInstances: () => Object.keys(uses).map((service) => ({ service }) as InstanceReading),
    readRequests: () => [],
    readNodes: () => [],
    readService: (service) => reading(service, uses[service] as number, milliseconds(now - 500)),
    takeSpans: () => [],
  };
}

test("every service is scaled by its own CPU use: ceil(use / target), within a tolerance of a tenth", () => {
  const controller = serviceHpaController({ hpa: serviceHpa() });
  const proposals = controller.control(view({ busy: 1_700, calm: 300, full: 850 }, seconds(600)));
  // 1.7 / 0.8 = 2.1: three replicas; 0.85 / 0.8 is within the tolerance; none goes below one.
  expect(proposals.map(({ action }) => action)).toEqual([{ kind: "scale-service", service: "busy", replicas: 3 }]);
  expect(proposals[0]?.measuredAt).toBe(599_500);
});

test("a lower target scales out earlier", () => {
  const controller = serviceHpaController({ hpa: serviceHpa(25) });
  const [proposal] = controller.control(view({ busy: 400 }, seconds(600)));
  expect(proposal?.action).toEqual({ kind: "scale-service", service: "busy", replicas: 2 });
});

test("it syncs every fifteen seconds, not with every interval of whoever asks", () => {
  const controller = serviceHpaController({ hpa: serviceHpa() });
  const busy = (at: number) => controller.control(view({ busy: 1_700 }, seconds(at))).length;
  expect([600, 601, 614, 615, 629, 630].map(busy)).toEqual([1, 0, 0, 1, 0, 1]);
});
