import { spawn } from "node:child_process";
import { chmod, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import { failureOf, seededRng } from "../../base/index.ts";
import type { TrajectoryRecord } from "../../learn/trajectory/index.ts";
import { compact } from "../../learn/trajectory/index.ts";
import { openDuckdbStore } from "./duckdb.ts";

let folder = "";
let path = "";
beforeEach(async () => {
  folder = temporaryFolder("duckdb");
  path = join(folder, "s.duckdb");
});

const recordAt = (episode: string, step: number, more: Partial<TrajectoryRecord> = {}): TrajectoryRecord => ({
  episode: episode as EpisodeId,
  agent: "agent" as AgentId,
  step,
  at: step as Ms,
  obs: Float32Array.of(step, 0.5),
  proposed: Float32Array.of(1),
  executed: Float32Array.of(1),
  logProb: null,
  reward: 1,
  end: "no",
  ...more,
});

const stretch = (episode: string, steps: number) => Array.from({ length: steps }, (_, step) => recordAt(episode, step));

async function failureFrom(promise: Promise<unknown>) {
  return promise.then(
    () => undefined,
    (thrown) => failureOf(thrown) ?? { code: `uncoded: ${String(thrown)}`, message: "" },
  );
}

async function runSql(file: string, sql: string): Promise<void> {
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
}

describe("a store that cannot be opened", () => {
  test("names the process that owns it", async () => {
    const script = `
      const { createRequire } = await import("node:module");
      const { DuckDBInstance } = createRequire(process.argv[1])("@duckdb/node-api");
      const instance = await DuckDBInstance.create(process.argv[2]);
      const connection = await instance.connect();
      await connection.run("CREATE TABLE t (a INT)");
      console.log("open");
      setInterval(() => connection, 1000);`;
    const args = ["--input-type=module", "-e", script, import.meta.filename, path];
    const owner = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    try {
      await new Promise((resolve) => owner.stdout.once("data", resolve));
      const refused = await failureFrom(openDuckdbStore({ path }));
      expect(refused?.code).toBe("store.locked");
      expect(refused?.message).toContain(`${path} is owned by process ${owner.pid} (`);
    } finally {
      owner.kill("SIGKILL");
    }
  });

  test("is locked for a second opener in the same process too, under any name, until it is closed", async () => {
    const store = await openDuckdbStore({ path });
    await symlink(path, join(folder, "alias.duckdb"));
    for (const name of [path, join(folder, ".", "s.duckdb"), join(folder, "alias.duckdb")]) {
      const refused = await failureFrom(openDuckdbStore({ path: name }));
      expect(refused?.code).toBe("store.locked");
      expect(refused?.message).toContain(`this very process (${process.pid})`);
    }
    await store.close();
    await (await openDuckdbStore({ path })).close();
  });

  test("is corrupt when it is not a database, when it is cut, and when a bit of its header or log is flipped", async () => {
    await writeFile(path, "not a database ".repeat(2_000));
    expect((await failureFrom(openDuckdbStore({ path })))?.code).toBe("store.corrupt");

    await rm(path);
    const store = await openDuckdbStore({ path });
    await store.append(stretch("e", 500));
    const log = await readFile(`${path}.wal`);
    const before = await readFile(path);
    await store.close();
    const after = await readFile(path);

    const flipped = (bytes: Buffer, at: number) => {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ 0x10;
      return copy;
    };
    const cases: [string, Buffer, Buffer | undefined][] = [
      ["cut", after.subarray(0, 9_000), undefined],
      ["header", flipped(after, 4_100), undefined],
      ["log", before, flipped(log, log.length >> 1)],
    ];
    for (const [what, file, wal] of cases) {
      const broken = join(folder, `${what}.duckdb`);
      await writeFile(broken, file);
      if (wal) await writeFile(`${broken}.wal`, wal);
      const refused = await failureFrom(openDuckdbStore({ path: broken }));
      expect([what, refused?.code]).toEqual([what, "store.corrupt"]);
      expect(refused?.message).toContain("restore a copy");
    }
  });

  test("is corrupt when its log does not begin as one, or claims an entry that cannot be", async () => {
    const store = await openDuckdbStore({ path });
    await store.append(stretch("e", 200));
    const [file, log] = [await readFile(path), await readFile(`${path}.wal`)];
    await store.close();
    const flipped = (at: number, bit: number) => log.map((byte, k) => (k === at ? byte ^ (1 << bit) : byte));
    // The first entry's length is behind the eight bytes that every log begins with.
    const cases = { "first byte": flipped(0, 0), "kind of entry": flipped(3, 2), length: flipped(8 + 5, 1) };
    for (const [what, wal] of Object.entries({ ...cases, noise: log.map((byte) => byte ^ 0x5a) })) {
      const broken = join(folder, `${what.replaceAll(" ", "-")}.duckdb`);
      await writeFile(broken, file);
      await writeFile(`${broken}.wal`, wal);
      const refused = await failureFrom(openDuckdbStore({ path: broken }));
      expect([what, refused?.code]).toEqual([what, "store.corrupt"]);
      expect(refused?.message).toContain(`${broken}.wal`);
      expect(await readFile(`${broken}.wal`)).toEqual(Buffer.from(wal));
    }
  });

  test("is corrupt when a flipped bit is found while reading", async () => {
    const store = await openDuckdbStore({ path });
    await store.append(stretch("e", 20_000));
    await store.close();
    const bytes = await readFile(path);
    // Every block is checksummed; the records fill the blocks after the headers.
    for (let at = 12_288 + 100; at < bytes.length; at += 262_144) bytes[at] = (bytes[at] ?? 0) ^ 1;
    await writeFile(path, bytes);
    const read = async () => {
      const reopened = await openDuckdbStore({ path });
      try {
        await reopened.episode("e" as EpisodeId);
      } finally {
        await reopened.close();
      }
    };
    expect((await failureFrom(read()))?.code).toBe("store.corrupt");
  });

  test("is refused when another schema wrote it, and a foreign database is not touched", async () => {
    await (await openDuckdbStore({ path })).close();
    await runSql(path, "UPDATE coxswain_meta SET value = '2'");
    const other = await failureFrom(openDuckdbStore({ path }));
    expect(other).toMatchObject({
      code: "store.schema",
      message: expect.stringContaining("has trajectory schema 2 and this version reads schema 1"),
    });

    const foreign = join(folder, "foreign.duckdb");
    await runSql(foreign, "CREATE TABLE customers (id INT)");
    expect((await failureFrom(openDuckdbStore({ path: foreign })))?.message).toContain("not a trajectory store");
    await runSql(foreign, "SELECT id FROM customers");
  });

  test("says when its place is read-only, missing or a folder", async () => {
    // Permissions do not stop root, so root is sent to a file system where nobody may create files.
    const isRoot = process.getuid?.() === 0;
    const locked = isRoot ? "/sys" : join(folder, "locked");
    if (!isRoot) {
      await mkdir(locked);
      await chmod(locked, 0o555);
    }
    const refused = await failureFrom(openDuckdbStore({ path: join(locked, "s.duckdb") }));
    expect(refused).toMatchObject({
      code: "store.read-only",
      message: expect.stringContaining("give write permission"),
    });
    expect((await failureFrom(openDuckdbStore({ path: join(folder, "no", "s.duckdb") })))?.code).toBe("store.path");
    expect((await failureFrom(openDuckdbStore({ path: folder })))?.code).toBe("store.path");
  });
});

describe("a store in use", () => {
  test("recognises steps of an episode it has forgotten to remember", async () => {
    const first = await openDuckdbStore({ path });
    await first.append([...stretch("long", 300), recordAt("long", 400), recordAt("other", 7)]);
    await first.close();
    const store = await openDuckdbStore({ path });
    const again = [recordAt("long", 299), recordAt("long", 300), recordAt("long", 400), recordAt("other", 7)];
    expect(await store.append(again)).toEqual({ added: 1, repeated: 3 });
    await store.close();
  });

  test("samples the same transitions after a reopening", async () => {
    const first = await openDuckdbStore({ path });
    await first.append(stretch("e", 200));
    const before = await first.sample({ count: 50, rng: seededRng(3) });
    await first.close();
    const store = await openDuckdbStore({ path });
    const after = await store.sample({ count: 50, rng: seededRng(3) });
    expect(after).toEqual(before);
    await store.close();
  });

  test("is compacted to the newest episodes and both ends of the ranking", async () => {
    const store = await openDuckdbStore({ path });
    // Six finished episodes of ten steps, newest last, the best is the oldest and the worst the second.
    const returns = [90, -50, 1, 2, 3, 4];
    for (const [n, value] of returns.entries()) {
      const steps = stretch(`e${n}`, 10).map((r) => ({
        ...r,
        at: (100 * n + r.step) as Ms,
        reward: r.step === 9 ? value : 0,
      }));
      await store.append(steps.map((r) => (r.step === 9 ? { ...r, end: "terminated" as const } : r)));
    }
    await store.append([recordAt("running", 0)]);
    expect(await compact(store, { maxRecords: 41, keepTop: 1, keepBottom: 1 })).toBe(20);
    const left = (await store.oldestEpisodes({ count: 10 })).map((s) => s.episode);
    expect(left).toEqual(["e0", "e1", "e4", "e5"]);
    expect((await store.counts()).records).toBe(41);
    await store.close();
  });

  test("lets reads that are under way finish before it closes", async () => {
    const store = await openDuckdbStore({ path });
    const written = store.append(stretch("e", 5_000));
    const closed = store.close();
    expect(await written).toEqual({ added: 5_000, repeated: 0 });
    await closed;
    const again = await openDuckdbStore({ path });
    const read = again.episode("e" as EpisodeId);
    await Promise.all([again.close(), read]);
    expect(await read).toHaveLength(5_000);
  });
});
