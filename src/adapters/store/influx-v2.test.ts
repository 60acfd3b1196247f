import { afterEach, describe, expect, test } from "vitest";
import type { Exchange } from "../../../test/fixtures/http/replay-server.ts";
import { replay } from "../../../test/fixtures/http/replay-server.ts";
import {
  appending,
  completing,
  forgetting,
  opening,
  ranking,
  reading,
  recent,
  refusals,
  refusedOpening,
} from "../../../test/fixtures/influx-v2/exchanges.ts";
import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import { failureOf } from "../../base/index.ts";
import type { TrajectoryRecord } from "../../learn/trajectory/index.ts";
import { openInfluxStore } from "./influx-open.ts";

type Replay = Awaited<ReturnType<typeof replay>>;
let servers: Replay[] = [];
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
  servers = [];
});

async function storeOver(exchanges: readonly Exchange[]) {
  const server = await replay(exchanges);
  servers.push(server);
  const place = { organisation: "ops", bucket: "trajectories", token: "secret-token" };
  return { server, opened: openInfluxStore({ version: 2, url: server.url, ...place }) };
}

/** Runs the job over the conversation and checks that it was held to the last word. */
async function conversing<T>(
  exchanges: readonly Exchange[],
  job: (store: Awaited<ReturnType<typeof openInfluxStore>>) => Promise<T>,
) {
  const { server, opened } = await storeOver([opening(1), ...exchanges]);
  const answer = await opened.then(job).catch((thrown: unknown) => thrown);
  expect(server.surprises).toEqual([]);
  expect(server.left()).toBe(0);
  return answer;
}

const agent = "agent-1" as AgentId;
const episode = "run-1" as EpisodeId;
const first: TrajectoryRecord = {
  episode,
  agent,
  step: 0,
  at: 1_700_000_000_000 as Ms,
  obs: Float32Array.of(0.5, -2),
  proposed: Float32Array.of(0.25),
  executed: Float32Array.of(0.125),
  logProb: -0.75,
  reward: null,
  end: "no",
};
const second: TrajectoryRecord = { ...first, step: 1, at: 1_700_000_000_000.5 as Ms, logProb: null };
const late = { episode, step: 1, reward: 2.5, end: "terminated" as const, finalObs: Float32Array.of(0.5, -2) };

describe("conversations with InfluxDB 2.x", () => {
  test("an append looks the episode up once, then writes points; a late reward writes only what is late", async () => {
    const answer = await conversing([...appending, ...completing], async (store) => [
      await store.append([first, second]),
      await store.complete([late]),
    ]);
    expect(answer).toEqual([
      { added: 2, repeated: 0 },
      { completed: 1, repeated: 0 },
    ]);
  });

  test("points are read back as the records they were", async () => {
    const records = await conversing(reading, (store) => store.episode(episode));
    expect(records).toEqual([first, { ...second, reward: 2.5, end: "terminated" }]);
  });

  test("the server adds up the rewards, and unfinished episodes are left out", async () => {
    const answer = await conversing(ranking, async (store) => [
      await store.topEpisodes({ count: 5, agent }),
      await store.counts(),
    ]);
    expect(answer).toEqual([
      [
        { episode: "run-1", agent, steps: 2, return: 2.5, end: "terminated", startedAt: 100, endedAt: 101.5 },
        { episode: "run-2", agent, steps: 1, return: -1, end: "truncated", startedAt: 200, endedAt: 200 },
      ],
      { episodes: 3, records: 7, pending: 1 },
    ]);
  });

  test("recent rewards are put in exact order within a millisecond", async () => {
    // By `at` the third of the millisecond, 10, is newer than 20, although its point is older.
    expect(await conversing(recent, (store) => store.recentRewards(agent, 2))).toEqual([10, 30]);
  });

  test("forgetting deletes the stored episodes one by one and counts their records", async () => {
    expect(await conversing(forgetting, (store) => store.forget(["run-2", "gone"] as EpisodeId[]))).toBe(1);
  });

  test("a bucket of another schema version is refused", async () => {
    const { opened } = await storeOver([opening(7)]);
    await expect(opened).rejects.toMatchObject({ code: "store.schema" });
  });

  test.each(refusals)("status $status is $code", async ({ status, body, code, retry }) => {
    const { opened } = await storeOver([refusedOpening(status, body)]);
    const refused = await opened.catch((thrown: unknown) => failureOf(thrown));
    expect(refused).toMatchObject({ code, retry });
    expect(JSON.stringify(refused)).not.toContain("secret-token");
  });
});
