/**
 * `coxswain bench store`: durable transitions per second into the embedded store, and what reading costs.
 * A transition has 8 numbers of observation and 5 of action, twice (proposed and executed). Every batch is on disk
 * before the next one begins, in ours and in the peers: DuckDB with vectors as LISTs, and lines of JSON with fsync.
 * The wall counts: waiting for the disk is part of the price.
 */

import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance, listValue } from "@duckdb/node-api";
import { connectStore, openDuckdbStore, serveStore } from "../src/adapters/store/index.ts";
import { type AgentId, type EpisodeId, type Ms, seededRng } from "../src/base/index.ts";
import { recordToLine, type TrajectoryRecord, type TrajectoryStore } from "../src/learn/trajectory/index.ts";
import { interleave, type Timed } from "./measure.ts";
import { type Bench, type BenchContext, type BenchReport, describeMachine, type Figure, round } from "./report.ts";
import type { Timing } from "./statistics.ts";

const BATCH = 8_192;
const EPISODE = 256;
const SAMPLE = 256;
const TARGET = 150_000;

export const storeBench: Bench = {
  title: "durable transitions per second into the embedded store",
  async run(context): Promise<BenchReport> {
    const machine = describeMachine();
    const folder = await mkdtemp(join(tmpdir(), "coxswain-bench-store-"));
    try {
      return { figures: await measureIn(folder, context), absent: [], machine: machine() };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function measureIn(folder: string, { quick, signal, log }: BenchContext): Promise<Figure[]> {
  const store = await openDuckdbStore({ path: join(folder, "ours.duckdb") });
  const owned = await openDuckdbStore({ path: join(folder, "owned.duckdb") });
  const server = await serveStore({ store: owned });
  const remote = connectStore({ url: server.url });
  const lists = await listTable(join(folder, "lists.duckdb"));
  const lines = await open(join(folder, "lines.jsonl"), "a");
  try {
    log(`appending batches of ${BATCH} transitions`);
    const entries = [
      { key: "ours", contender: batches("ours", (records) => store.append(records)) },
      { key: "late", contender: lateRewards(store) },
      { key: "remote", contender: batches("remote", (records) => remote.append(records)) },
      { key: "lists", contender: batches("lists", lists.append) },
      {
        key: "lines",
        contender: batches("lines", async (records) => {
          await lines.appendFile(`${records.map(recordToLine).join("\n")}\n`);
          await lines.datasync();
        }),
      },
      { key: "sample", contender: samples(store) },
    ].map((entry) => ({ ...entry, task: "store" }));
    const rounds = { count: quick ? 3 : 9, lengthMs: quick ? 300 : 1_000, warmupMs: quick ? 300 : 1_000, signal };
    const { timings, failed } = await interleave(entries, rounds);
    for (const [key, why] of failed) log(`${key} failed: ${why}`);
    return figuresOf(timings);
  } finally {
    await lines.close();
    lists.close();
    await remote.close();
    await server.close();
    await owned.close();
    await store.close();
  }
}

function figuresOf(timings: ReadonlyMap<string, Timing>): Figure[] {
  const rate = (key: string, of: (timing: Timing) => number): number => {
    const timing = timings.get(key);
    return timing === undefined ? Number.NaN : (BATCH * 1e9) / of(timing);
  };
  const perSecond = (id: string, what: string, key: string): Figure => ({
    id: `store.${id}`,
    what,
    value: round(rate(key, (t) => t.bestWall)),
    unit: "transitions/s",
    median: round(rate(key, (t) => t.medianWall)),
  });
  const ours = rate("ours", (t) => t.bestWall);
  const against = (id: string, key: string, peer: string): Figure => ({
    ...perSecond(id, `durable batches of ${BATCH}, embedded`, "ours"),
    peer: `${peer}: ${round(rate(key, (t) => t.bestWall))} transitions/s`,
    ratio: round(ours / rate(key, (t) => t.bestWall)),
  });
  const sample = timings.get("sample");
  const milliseconds = (ns: number | undefined): number => round((ns ?? Number.NaN) / 1e6);
  return [
    {
      ...against("ingest.lists", "lists", "DuckDB with LISTs"),
      target: `at least ${TARGET} transitions/s`,
      holds: ours >= TARGET,
    },
    against("ingest.lines", "lines", "JSONL with fsync"),
    perSecond("late", `appended pending, then completed by a late reward, batches of ${BATCH}`, "late"),
    perSecond("remote", `durable batches of ${BATCH} through the remote store`, "remote"),
    {
      id: "store.sample",
      what: `${SAMPLE} transitions sampled with their successors`,
      value: milliseconds(sample?.bestWall),
      unit: "ms",
      median: milliseconds(sample?.medianWall),
    },
  ];
}

/** One iteration is one batch; making the records is not part of the time. */
function batches(name: string, append: (records: TrajectoryRecord[]) => Promise<unknown>): Timed {
  const source = new Source(name);
  return timed(
    () => source.batch(0),
    (records) => append(records),
  );
}

function lateRewards(store: TrajectoryStore): Timed {
  const source = new Source("late");
  return timed(
    () => source.batch(null),
    async (records) => {
      await store.append(records);
      await store.complete(records.map(({ episode, step }) => ({ episode, step, reward: step })));
    },
  );
}

function samples(store: TrajectoryStore): Timed {
  const rng = seededRng(3);
  return timed(
    () => undefined,
    () => store.sample({ count: SAMPLE, rng }),
  );
}

function timed<T>(prepare: () => T, run: (prepared: T) => Promise<unknown>): Timed {
  return {
    async time(_task, iterations) {
      let wallNs = 0;
      let cpuNs = 0;
      for (let i = 0; i < iterations; i++) {
        const prepared = prepare();
        const cpu = process.cpuUsage();
        const wall = process.hrtime.bigint();
        await run(prepared);
        wallNs += Number(process.hrtime.bigint() - wall);
        const used = process.cpuUsage(cpu);
        cpuNs += (used.user + used.system) * 1_000;
      }
      return { iterations, wallNs, cpuNs };
    },
  };
}

/** Episodes of 256 steps, each with its own id, as a training run makes them. */
class Source {
  readonly #name: string;
  readonly #rng = seededRng(11);
  #made = 0;

  constructor(name: string) {
    this.#name = name;
  }

  batch(reward: number | null): TrajectoryRecord[] {
    const vector = (length: number) => Float32Array.from({ length }, () => this.#rng.next());
    return Array.from({ length: BATCH }, (): TrajectoryRecord => {
      const n = this.#made++;
      const step = n % EPISODE;
      return {
        episode: `${this.#name}-${Math.floor(n / EPISODE)}` as EpisodeId,
        agent: "agent-1" as AgentId,
        step,
        at: (1.7e12 + n) as Ms,
        obs: vector(8),
        proposed: vector(5),
        executed: vector(5),
        logProb: -this.#rng.next(),
        reward: reward === null ? null : this.#rng.next(),
        end: step === EPISODE - 1 ? "terminated" : "no",
      };
    });
  }
}

/** The same rows with LIST columns, appended row by row, which is what the appender offers for lists. */
async function listTable(path: string) {
  const instance = await DuckDBInstance.create(path, { threads: "1", checkpoint_threshold: "64MiB" });
  const connection = await instance.connect();
  await connection.run(`CREATE TABLE records (episode VARCHAR, step INTEGER, at_ms DOUBLE, obs FLOAT[], proposed FLOAT[],
    executed FLOAT[], log_prob DOUBLE, reward DOUBLE, "end" VARCHAR)`);
  return {
    append: async (records: readonly TrajectoryRecord[]): Promise<void> => {
      await connection.run("BEGIN");
      const appender = await connection.createAppender("records");
      for (const record of records) {
        appender.appendVarchar(record.episode);
        appender.appendInteger(record.step);
        appender.appendDouble(record.at);
        for (const vector of [record.obs, record.proposed, record.executed])
          appender.appendList(listValue([...vector]));
        appender.appendDouble(record.logProb ?? 0);
        appender.appendDouble(record.reward ?? 0);
        appender.appendVarchar(record.end);
        appender.endRow();
      }
      appender.closeSync();
      await connection.run("COMMIT");
    },
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}
