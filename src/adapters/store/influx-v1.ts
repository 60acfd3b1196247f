/** InfluxDB 1.x: the /write and /query endpoints, with InfluxQL. */

import * as z from "zod";
import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import { CodedError, failure } from "../../base/index.ts";
import type { InfluxDialect, RewardPoint } from "./influx.ts";
import type { InfluxTarget } from "./influx-http.ts";
import { askInflux, reasonIn, refusal } from "./influx-http.ts";
import type { Fields, Point, SeriesSummary } from "./influx-points.ts";
import { MEASUREMENT, META } from "./influx-points.ts";

const Value = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const Answer = z.object({
  results: z.array(
    z.object({
      error: z.string().optional(),
      series: z
        .array(
          z.object({
            tags: z.record(z.string(), z.string()).optional(),
            columns: z.array(z.string()),
            values: z.array(z.array(Value)),
          }),
        )
        .optional(),
    }),
  ),
});

interface Row {
  readonly tags: Readonly<Record<string, string>>;
  readonly fields: Fields;
}

export function influxV1(target: InfluxTarget, database: string): InfluxDialect {
  const query = (q: string) => ask(target, database, q);
  const ofEpisodes = (ids: readonly EpisodeId[]) => ids.map((id) => `"episode" = '${id}'`).join(" OR ");
  return {
    async prepare() {
      await query(`CREATE DATABASE "${database.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`);
    },
    async schema() {
      const [row] = await query(`SELECT last("trajectory_schema") AS "version" FROM "${META}"`);
      return row === undefined ? undefined : Number(row.fields.version);
    },
    async write(lines) {
      await askInflux(target, {
        method: "POST",
        path: "/write",
        query: { db: database, precision: "ns" },
        body: lines.join("\n"),
        type: "text/plain; charset=utf-8",
      });
    },
    async summaries({ agent, episodes } = {}) {
      const conditions = [
        ...(agent === undefined ? [] : [`"agent" = '${agent}'`]),
        ...(episodes === undefined ? [] : [`(${ofEpisodes(episodes)})`]),
      ];
      const rows = await query(
        `SELECT count("tail") AS "records", count("reward") AS "rewards", sum("reward") AS "total", max("tail") AS "tail",
           min("at") AS "started", max("at") AS "ended" FROM "${MEASUREMENT}"
         ${conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`} GROUP BY "agent", "episode"`,
      );
      return rows.map(
        ({ tags, fields }): SeriesSummary => ({
          agent: tags.agent as AgentId,
          episode: tags.episode as EpisodeId,
          records: Number(fields.records ?? 0),
          rewards: Number(fields.rewards ?? 0),
          return: Number(fields.total ?? 0),
          tail: Number(fields.tail ?? 0),
          startedAt: Number(fields.started) as Ms,
          endedAt: Number(fields.ended) as Ms,
        }),
      );
    },
    async points(episodes) {
      const rows = await query(
        `SELECT * FROM "${MEASUREMENT}" WHERE ${ofEpisodes(episodes)} GROUP BY "agent", "episode"`,
      );
      return rows.map(({ tags, fields }): Point => ({ agent: tags.agent ?? "", episode: tags.episode ?? "", fields }));
    },
    async newestRewardTime(agent, count) {
      const rows = await query(
        `SELECT "reward" FROM "${MEASUREMENT}" WHERE "agent" = '${agent}' ORDER BY time DESC LIMIT ${count}`,
      );
      const last = rows.at(-1);
      return last === undefined ? undefined : Number(last.fields.time);
    },
    async rewardsSince(agent, ms) {
      const rows = await query(
        `SELECT "reward", "at", "tail" FROM "${MEASUREMENT}" WHERE "agent" = '${agent}' AND time >= ${ms}ms GROUP BY "episode"`,
      );
      return rows.flatMap(({ tags, fields }): RewardPoint[] =>
        typeof fields.reward === "number"
          ? [{ episode: tags.episode ?? "", reward: fields.reward, at: Number(fields.at), tail: Number(fields.tail) }]
          : [],
      );
    },
    async forget(episodes) {
      await query(`DROP SERIES FROM "${MEASUREMENT}" WHERE ${ofEpisodes(episodes)}`);
    },
  };
}

async function ask(target: InfluxTarget, database: string, q: string): Promise<Row[]> {
  const text = await askInflux(target, {
    method: "POST",
    path: "/query",
    query: { db: database, epoch: "ms" },
    body: new URLSearchParams({ q }).toString(),
    type: "application/x-www-form-urlencoded",
    accept: "application/json",
  });
  const parsed = Answer.safeParse(parseJson(text));
  if (!parsed.success) {
    throw new CodedError(
      failure("store.protocol", `what answers at ${target.url} is not InfluxDB 1.x; check the address and the version`),
    );
  }
  const [result] = parsed.data.results;
  // A statement that fails is reported inside an answer with status 200.
  if (result?.error !== undefined)
    throw new CodedError(refusal(200, { text: reasonIn(result.error), url: target.url }));
  return (result?.series ?? []).flatMap(({ tags = {}, columns, values }) =>
    values.map((row) => ({ tags, fields: Object.fromEntries(columns.map((name, i) => [name, row[i]])) })),
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
