import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { parseInvocations, readAzureFunctions } from "./azure-functions.ts";
import { locateDataset } from "./locate.ts";

let folder = "";
beforeEach(() => {
  folder = temporaryFolder("datasets");
});

test("both samples are read, though their columns are named and ordered differently", async () => {
  const day = "HashFunction,HashApp,HashOwner,minute_1,minute_2,minute_3\nf,a,o,0,5,7\ng,a,o,1,0,0\n";
  const hours = "HashOwner,HashApp,HashFunction,Trigger,480,481\no,a,f,http,3,4\n";
  writeFileSync(join(folder, "f1250_invocations_day.csv.gz"), gzipSync(day));
  writeFileSync(join(folder, "f500_invocations_min480-959.csv.gz"), gzipSync(hours));
  expect(await readAzureFunctions(folder)).toEqual({
    ok: true,
    value: [
      { id: "f", counts: Float64Array.of(0, 5, 7) },
      { id: "g", counts: Float64Array.of(1, 0, 0) },
    ],
  });
  expect(await readAzureFunctions(folder, { sample: "eight-hours" })).toEqual({
    ok: true,
    value: [{ id: "f", counts: Float64Array.of(3, 4) }],
  });
});

test("a file that is missing or damaged is refused by name", async () => {
  writeFileSync(join(folder, "f500_invocations_min480-959.csv.gz"), "not gzip");
  for (const sample of ["day", "eight-hours"] as const) {
    expect(await readAzureFunctions(folder, { sample })).toMatchObject({
      ok: false,
      failure: { code: "dataset.unreadable", message: expect.stringContaining(folder) },
    });
  }
});

test.each([
  ["Function,minute_1\nf,1\n", "line 1 names no column"],
  ["HashFunction,App\nf,1\n", "line 1 names no column"],
  ["HashFunction,minute_1,minute_2\nf,1,2\ng,1\n", "line 3 has 2 fields where the first has 3"],
  ["HashFunction,minute_1,minute_2\nf,1,\n", "line 2 has no count in column minute_2"],
  ["HashFunction,minute_1\nf,-1\n", "line 2 has no count in column minute_1"],
])("a row that is not counts is named: %j", (text, where) => {
  expect(parseInvocations(text, "calls.csv")).toMatchObject({
    ok: false,
    failure: { code: "dataset.malformed", message: expect.stringContaining(where) },
  });
});

test("without the variable, the data set's name and origin are in the sentence", () => {
  expect(locateDataset("azure-functions-2019", {})).toMatchObject({
    ok: false,
    failure: {
      code: "dataset.unset",
      message: expect.stringMatching(/azure-functions-2019.*COXSWAIN_DATASETS.*https:/),
    },
  });
});

test("a folder without the set is named, and where the set belongs", () => {
  expect(locateDataset("azure-functions-2019", { COXSWAIN_DATASETS: folder })).toMatchObject({
    ok: false,
    failure: { code: "dataset.missing", message: expect.stringContaining(join(folder, "azure-functions-2019")) },
  });
});
