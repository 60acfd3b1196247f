import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openInfluxStore } from "../../src/adapters/store/index.ts";
import type { AgentId, EpisodeId, Ms } from "../../src/base/index.ts";
import { failureOf, milliseconds } from "../../src/base/index.ts";
import type { TrajectoryRecord } from "../../src/learn/trajectory/index.ts";
import { fingerprint } from "../conformance/trajectory-model.ts";
import { recordAt, trajectoryStoreConformance } from "../conformance/trajectory-store.ts";
import type { InfluxServer } from "./influx-server.ts";
import { startInflux } from "./influx-server.ts";

let server: InfluxServer;
beforeAll(async () => {
  server = await startInflux();
});
afterAll(() => server?.stop());

let databases = 0;
const open = (database: string) =>
  openInfluxStore({ version: 1, url: server.url, database, timeout: milliseconds(5_000) });

const failureFrom = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (thrown) => failureOf(thrown) ?? { code: `uncoded: ${String(thrown)}`, message: "", retry: false },
  );

trajectoryStoreConformance(
  "InfluxDB 1.x",
  async () => {
    databases += 1;
    const database = `conformance_${databases}`;
    let store = await open(database);
    return {
      store,
      reopen: async () => {
        await store.close();
        store = await open(database);
        return store;
      },
      dispose: async () => {
        await store.close();
        await fetch(`${server.url}/query`, {
          method: "POST",
          body: new URLSearchParams({ q: `DROP DATABASE "${database}"` }),
        });
      },
    };
  },
  { histories: 20 },
);

describe("a real InfluxDB 1.x", () => {
  test("has every acknowledged record after it was killed", async () => {
    const store = await open("killed");
    const records = Array.from(
      { length: 12_000 },
      (_, step): TrajectoryRecord => recordAt({ step, at: (1.7e12 + step / 7) as Ms, reward: null }),
    );
    await store.append(records);
    await store.complete(records.slice(0, 100).map(({ episode, step }) => ({ episode, step, reward: step / 4 })));
    await server.kill();
    expect(await failureFrom(store.append(records))).toMatchObject({ code: "store.unavailable", retry: true });
    await server.restart();
    const again = await open("killed");
    const found = await again.episode("run-1" as EpisodeId);
    const expected = records.map((r) => fingerprint(r.step < 100 ? { ...r, reward: r.step / 4 } : r));
    expect(found.map(fingerprint)).toEqual(expected);
    await Promise.all([store.close(), again.close()]);
  });

  test("keeps steps of one millisecond apart, and a late reward does not touch the rest of its point", async () => {
    const store = await open("crowded");
    const at = 1_700_000_000_000.25 as Ms;
    const records = [0, 1, 2].map((step) =>
      recordAt({ step, at, reward: null, logProb: null, actorContext: Float32Array.of(step) }),
    );
    await store.append(records);
    await store.complete([{ episode: "run-1" as EpisodeId, step: 1, reward: 9, end: "terminated" }]);
    const fresh = await open("crowded");
    expect(await fresh.episode("run-1" as EpisodeId)).toEqual(
      records.map((r) => (r.step === 1 ? { ...r, reward: 9, end: "terminated" } : r)),
    );
    await Promise.all([store.close(), fresh.close()]);
  });

  test("refuses another schema version, and an address where something else answers", async () => {
    await (await open("versions")).close();
    await fetch(`${server.url}/write?db=versions`, { method: "POST", body: "coxswain_meta trajectory_schema=2i" });
    expect(await failureFrom(open("versions"))).toMatchObject({ code: "store.schema" });
    const elsewhere = openInfluxStore({ version: 1, url: "http://127.0.0.1:9", database: "x" });
    expect(await failureFrom(elsewhere)).toMatchObject({ code: "store.unavailable", retry: true });
  });

  test("says when retention would drop a record instead of dropping it silently", async () => {
    const store = await open("short");
    const q = 'ALTER RETENTION POLICY "autogen" ON "short" DURATION 1h SHARD DURATION 1h DEFAULT';
    await fetch(`${server.url}/query`, { method: "POST", body: new URLSearchParams({ q }) });
    const refused = await failureFrom(store.append([recordAt({ step: 0, agent: "a" as AgentId })]));
    expect(refused).toMatchObject({ code: "store.limit" });
    expect(refused?.message).toContain("raise that limit or the retention");
    expect((await store.counts()).records).toBe(0);
    await store.close();
  });
});
