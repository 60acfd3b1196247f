import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { unwrap } from "../../base/index.ts";
import { locateDataset } from "./locate.ts";
import { readNezhaTraces } from "./nezha-traces.ts";

let folder = "";
beforeEach(() => {
  folder = temporaryFolder("nezha");
  const write = (name: string, lines: readonly string[]) => writeFileSync(join(folder, name), `${lines.join("\n")}\n`);
  write("faults.csv", [
    "fault,app,day,inject_time,pod,service,type,windows_with_traces",
    "4,hipster,d,t,cart-xyz,cart,cpu_contention,1",
    "5,train-ticket,d,t,p,ts,exception,1",
  ]);
  write("windows.csv", [
    "window,app,day,hh_mm,kind,source,fault,minutes_after_injection,n_traces,n_spans,absent",
    "0,hipster,2022-08-22,03_53,fault,Nezha,4,0,1,3,0",
    "1,hipster,2022-08-22,04_00,normal,Nezha,,,2,2,0",
    "2,hipster,2022-08-22,03_54,fault,Nezha,4,1,0,0,1",
  ]);
  write("pods.csv", ["id,pod,service", "0,shop-abc,shop", "1,cart-xyz,cart"]);
  write("ops.csv", ["id,op", "0,GET", "1,Cart/Add"]);
  const spans = [
    "window,trace,span,parent,pod,op,rel_start_us,dur_us",
    "0,0,0,-1,0,0,0,900",
    "0,0,1,0,0,1,100,700",
    "0,0,2,1,1,1,200,500",
    "1,0,0,-1,0,0,0,300",
    "1,1,0,-1,0,0,0,400",
  ];
  writeFileSync(join(folder, "hipster.spans.csv.gz"), gzipSync(`${spans.join("\n")}\n`));
  const metrics = [
    "app,day,unix_s,pod,cpu_m,cpu_pct,mem_pct",
    // 03:53:20; the other two are 04:00:10 and 05:00:00 of that day, of which the first is 200,000,000 s ahead.
    "hipster,2022-08-22,1661140400,cart-5f-xyz,90,80,1",
    "hipster,2022-08-22,1661140400,shop-a-5f-abc,9,,1",
    "hipster,2022-08-22,1861140810,cart-5f-xyz,9,10,1",
    "hipster,2022-08-22,1661144400,cart-5f-xyz,9,20,1",
    "train-ticket,2022-08-22,1661140400,cart-5f-xyz,9,30,1",
  ];
  writeFileSync(join(folder, "metrics.csv.gz"), gzipSync(`${metrics.join("\n")}\n`));
});

test("windows come with their spans; who calls another service is its client", async () => {
  const { faults, windows } = unwrap(await readNezhaTraces(folder, { application: "hipster" }));
  expect(faults).toEqual([{ fault: 4, application: "hipster", service: "cart", type: "cpu_contention" }]);
  expect(windows.map(({ window, fault, spans }) => [window, fault, spans.length])).toEqual([
    [0, 4, 3],
    [1, null, 2],
  ]);
  const said = windows[0]?.spans.map(({ service, operation, kind, startUs, endUs, parentId, spanId }) => [
    ...[service, operation, kind, startUs, endUs, parentId === undefined ? null : Number(parentId), Number(spanId)],
  ]);
  expect(said).toEqual([
    ["shop", "GET cart Cart/Add", "server", 0, 900, null, 1],
    ["shop", "Cart/Add", "client", 100, 800, 1, 2],
    ["cart", "Cart/Add", "server", 200, 700, 2, 3],
  ]);
});

test("a window has its time and the CPU that its minute has a value for", async () => {
  const { windows } = unwrap(await readNezhaTraces(folder, { application: "hipster" }));
  expect(windows.map(({ at, cpu }) => [at, [...cpu]])).toEqual([
    [Date.UTC(2022, 7, 22, 3, 53), [["cart", 0.8]]],
    [Date.UTC(2022, 7, 22, 4, 0), [["cart", 0.1]]],
  ]);
});

test("of every window no more traces are read than asked for", async () => {
  const { windows } = unwrap(await readNezhaTraces(folder, { application: "hipster", mostTraces: 1 }));
  expect(windows.map(({ spans }) => spans.length)).toEqual([3, 1]);
});

test("a file that is missing or of another shape is refused by name", async () => {
  expect(await readNezhaTraces(folder, { application: "train-ticket" })).toMatchObject({
    ok: false,
    failure: { code: "dataset.unreadable", message: expect.stringContaining("nezha-traces") },
  });
  writeFileSync(join(folder, "hipster.spans.csv.gz"), gzipSync("trace,span\n1,2\n"));
  expect(await readNezhaTraces(folder, { application: "hipster" })).toMatchObject({
    ok: false,
    failure: { message: expect.stringContaining("begins with 'trace,span'") },
  });
});

test("without the set, its name and origin are in the sentence", () => {
  expect(locateDataset("nezha-traces", {})).toMatchObject({
    ok: false,
    failure: { code: "dataset.unset", message: expect.stringMatching(/nezha-traces.*https:/) },
  });
});
