/** InfluxDB 2.x: the v2 write, query and delete endpoints, with Flux. The bucket must exist; only an admin can make one. */

import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import { parseAnnotatedCsv } from "./annotated-csv.ts";
import type { InfluxDialect, RewardPoint } from "./influx.ts";
import type { InfluxTarget } from "./influx-http.ts";
import { askInflux } from "./influx-http.ts";
import type { Point, SeriesSummary } from "./influx-points.ts";
import { MEASUREMENT, META } from "./influx-points.ts";

export interface InfluxBucket {
  readonly organisation: string;
  readonly bucket: string;
}

/** Without it a range ends now, and a record from a clock that is ahead would be overlooked. */
const END_OF_TIME = "2262-01-01T00:00:00Z";

/** Each is a table of its own in the answer, told apart by the name it is yielded under. */
const AGGREGATES = [
  { name: "records", field: "tail", call: "count()" },
  { name: "rewards", field: "reward", call: "count()" },
  { name: "total", field: "reward", call: "sum()" },
  { name: "tail", field: "tail", call: "max()" },
  { name: "started", field: "at", call: "min()" },
  { name: "ended", field: "at", call: "max()" },
];

export function influxV2(target: InfluxTarget, { organisation, bucket }: InfluxBucket): InfluxDialect {
  const source = (measurement: string, start = "0"): string =>
    `from(bucket: ${quoted(bucket)}) |> range(start: ${start}, stop: ${END_OF_TIME}) |> filter(fn: (r) => r._measurement == "${measurement}")`;
  const query = async (flux: string) =>
    parseAnnotatedCsv(
      await askInflux(target, {
        method: "POST",
        path: "/api/v2/query",
        query: { org: organisation },
        body: flux,
        type: "application/vnd.flux",
        accept: "application/csv",
      }),
    );
  return {
    async prepare() {
      // Nothing to make: a missing bucket shows on the first query.
    },
    async schema() {
      const [row] = await query(`${source(META)} |> filter(fn: (r) => r._field == "trajectory_schema") |> last()`);
      return row === undefined ? undefined : Number(row.values._value);
    },
    async write(lines) {
      await askInflux(target, {
        method: "POST",
        path: "/api/v2/write",
        query: { org: organisation, bucket, precision: "ns" },
        body: lines.join("\n"),
        type: "text/plain; charset=utf-8",
      });
    },
    async summaries({ agent, episodes } = {}) {
      const filters = [
        ...(agent === undefined ? [] : [`filter(fn: (r) => r.agent == "${agent}")`]),
        ...(episodes === undefined ? [] : [`filter(fn: (r) => ${anyOf(episodes)})`]),
      ];
      const data = [source(MEASUREMENT), ...filters].join(" |> ");
      const yields = AGGREGATES.map(
        ({ name, field, call }) =>
          `data |> filter(fn: (r) => r._field == "${field}") |> ${call} |> yield(name: "${name}")`,
      );
      const series = new Map<string, Record<string, number>>();
      const agents = new Map<string, string>();
      for (const { result, values } of await query(`data = ${data}\n${yields.join("\n")}`)) {
        const episode = String(values.episode);
        agents.set(episode, String(values.agent));
        series.set(episode, { ...series.get(episode), [result]: Number(values._value) });
      }
      return [...series].map(
        ([episode, found]): SeriesSummary => ({
          agent: agents.get(episode) as AgentId,
          episode: episode as EpisodeId,
          records: found.records ?? 0,
          rewards: found.rewards ?? 0,
          return: found.total ?? 0,
          tail: found.tail ?? 0,
          startedAt: (found.started ?? 0) as Ms,
          endedAt: (found.ended ?? 0) as Ms,
        }),
      );
    },
    async points(episodes) {
      const rows = await query(`${source(MEASUREMENT)} |> filter(fn: (r) => ${anyOf(episodes)}) |> ${PIVOT}`);
      return rows.map(({ values }): Point => {
        return { agent: String(values.agent), episode: String(values.episode), fields: values };
      });
    },
    async newestRewardTime(agent, count) {
      const rows = await query(
        `${source(MEASUREMENT)} |> filter(fn: (r) => r.agent == "${agent}" and r._field == "reward") |> group() ` +
          `|> sort(columns: ["_time"], desc: true) |> limit(n: ${count})`,
      );
      const last = rows.at(-1);
      return last === undefined ? undefined : Math.floor(Date.parse(String(last.values._time)));
    },
    async rewardsSince(agent, ms) {
      const start = new Date(ms).toISOString();
      const rows = await query(
        `${source(MEASUREMENT, start)} |> filter(fn: (r) => r.agent == "${agent}") ` +
          `|> filter(fn: (r) => r._field == "reward" or r._field == "at" or r._field == "tail") |> ${PIVOT}`,
      );
      return rows.flatMap(({ values }): RewardPoint[] =>
        typeof values.reward === "number"
          ? [
              {
                episode: String(values.episode),
                reward: values.reward,
                at: Number(values.at),
                tail: Number(values.tail),
              },
            ]
          : [],
      );
    },
    async forget(episodes) {
      // The delete predicate knows no "or", so it is one request per episode.
      for (const episode of episodes) {
        await askInflux(target, {
          method: "POST",
          path: "/api/v2/delete",
          query: { org: organisation, bucket },
          body: JSON.stringify({
            start: "1970-01-01T00:00:00Z",
            stop: END_OF_TIME,
            predicate: `_measurement="${MEASUREMENT}" AND episode="${episode}"`,
          }),
          type: "application/json",
        });
      }
    },
  };
}

/** One row per point with its fields as columns. */
const PIVOT = `pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")`;

function anyOf(episodes: readonly EpisodeId[]): string {
  return episodes.map((id) => `r.episode == "${id}"`).join(" or ");
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
