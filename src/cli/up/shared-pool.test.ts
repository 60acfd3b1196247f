import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { unwrap } from "../../base/index.ts";
import { openSharedPool } from "./shared-pool.ts";

let folder: string;
beforeEach(() => {
  folder = join(temporaryFolder("pool"), "pool-4");
  mkdirSync(folder);
});

/** A cross: two long arms and two short ones, of which the long are the first axis. */
const arms: readonly (readonly [string, readonly number[]])[] = [
  ["east", [3, 0, 7]],
  ["west", [-3, 0, 7]],
  ["north", [0, 1, 7]],
  ["north-east", [3, 1, 7]],
];

const report = (members: readonly object[] = membersOf(arms)) => ({
  applications: 4,
  seed: 2,
  rounds: 240,
  evaluation: { known: 5, neutral: 4 },
  curves: Array.from({ length: 240 }, (_, round) => ({ round: round + 1, return: round, loss: 0 })),
  map: { shares: [0, 0], members },
  later: "something else",
});
const membersOf = (all: typeof arms) =>
  all.map(([name, embedding]) => ({
    name,
    application: `app-${name}`,
    sensitivity: "memory",
    shape: "steady",
    embedding,
  }));

function write(document: unknown, at = 1_000): void {
  const file = join(folder, "report.json");
  writeFileSync(file, typeof document === "string" ? document : JSON.stringify(document));
  utimesSync(file, at, at);
}

test("a report becomes a map: places on the two longest directions, neighbours, and where a newcomer lies", async () => {
  write(report());
  const pool = unwrap(await openSharedPool(folder).read());
  expect(pool?.model).toMatchObject({ name: "pool-4", applications: 4, rounds: 240, known: 5, neutral: 4 });
  // Blocks of two rounds: the first has returns 0 and 1.
  expect(pool?.model.curve).toHaveLength(120);
  expect(pool?.model.curve[0]).toEqual({ round: 2, return: 0.5 });
  const [east, west, , northEast] = pool?.members ?? [];
  const apart = (a = [0, 0] as readonly number[], b = [0, 0] as readonly number[]) =>
    Math.hypot((a[0] ?? 0) - (b[0] ?? 0), (a[1] ?? 0) - (b[1] ?? 0));
  // All lie in one plane, so the map keeps their distances.
  expect(apart(east?.place, west?.place)).toBeCloseTo(6, 6);
  expect(apart(east?.place, northEast?.place)).toBeCloseTo(1, 6);
  expect(northEast?.nearest[0]?.name).toBe("east");
  expect(east?.nearest.map(({ name }) => name)).not.toContain("east");
  expect(east?.nearest).toHaveLength(3);
  expect(pool?.placeOf([3, 0, 7])).toEqual(east?.place);
  expect(pool?.placeOf([3, 0])).toBeNull();
});

test("a report that was written again is read again", async () => {
  write(report());
  const shelf = openSharedPool(folder);
  expect(unwrap(await shelf.read())?.members).toHaveLength(4);
  write(report(membersOf(arms.slice(0, 2))), 2_000);
  expect(unwrap(await shelf.read())?.members).toHaveLength(2);
});

test.each([
  ["nothing there", null, /ENOENT/],
  ["no JSON", "{", /the document: /],
  ["another shape", { ...report(), evaluation: { known: "5" } }, /evaluation\.known: /],
  [
    "ragged embeddings",
    report(
      membersOf([
        ["a", [1, 2]],
        ["b", [1]],
      ]),
    ),
    /different lengths/,
  ],
])("%s is told with the file and what to do", async (_what, document, words) => {
  if (document !== null) write(document);
  const found = await openSharedPool(folder).read();
  expect(found).toMatchObject({ ok: false, failure: { code: "plane.pool-unreadable" } });
  const message = found.ok ? "" : found.failure.message;
  expect(message).toMatch(words);
  expect(message).toContain("report.json");
  expect(message).toContain("coxswain pretrain");
});
