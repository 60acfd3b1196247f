/**
 * An agent's recorded steps in portions, newest first.
 * Owns: the cursor. Not here: the store (adapters/store).
 */
import type { EpisodeId, Result } from "../base/index.ts";
import { err, failure, failureOf, ok, parseAgentId, parseEpisodeId } from "../base/index.ts";
import type { TrajectoryDocument } from "../contract/index.ts";
import type { TrajectoryRecord, TrajectoryStore } from "../learn/trajectory/index.ts";

export interface TrajectoryQuery {
  readonly agent: string;
  readonly limit: number;
  readonly before: string | null;
}

export interface TrajectoryPage {
  readonly items: readonly TrajectoryDocument[];
  readonly next: string | null;
}

/** Episodes that are looked back on at most. */
const EPISODES = 1_000;
/** Asked for together: each question waits for the step that the world is at. */
const AT_ONCE = 8;

export async function trajectoryPage(
  store: TrajectoryStore,
  { agent, limit, before }: TrajectoryQuery,
): Promise<Result<TrajectoryPage>> {
  const id = parseAgentId(agent);
  if (!id.ok) return id;
  const from = before === null ? ok(null) : cursorOf(before);
  if (!from.ok) return from;
  try {
    const episodes = await store.recentEpisodes(id.value, EPISODES);
    const first = from.value === null ? 0 : episodes.indexOf(from.value.episode);
    if (first < 0) return err(badCursor(before));
    const found: TrajectoryRecord[] = [];
    // One more than asked for, to know whether there is a next portion.
    for (let at = first; at < episodes.length && found.length <= limit; at += AT_ONCE) {
      const portion = episodes.slice(at, at + AT_ONCE);
      const read = await Promise.all(portion.map((episode) => store.episode(episode)));
      for (const [index, steps] of read.entries()) {
        const isFirst = portion[index] === from.value?.episode;
        const limitStep = isFirst ? (from.value?.step ?? 0) : Number.POSITIVE_INFINITY;
        found.push(...[...steps].reverse().filter(({ step }) => step < limitStep));
      }
    }
    const items = found.slice(0, limit);
    const last = items.at(-1);
    const next = found.length > limit && last !== undefined ? `${last.step}@${last.episode}` : null;
    return ok({ items: items.map(documentOf), next });
  } catch (thrown) {
    const known = failureOf(thrown);
    if (known) return err(known);
    throw thrown;
  }
}

const documentOf = ({ episode, step, obs, proposed, executed, reward }: TrajectoryRecord): TrajectoryDocument => ({
  episode,
  step,
  obs: [...obs],
  proposed: [...proposed],
  executed: [...executed],
  reward,
});

function cursorOf(text: string): Result<{ readonly episode: EpisodeId; readonly step: number }> {
  const [step = "", ...rest] = text.split("@");
  const episode = parseEpisodeId(rest.join("@"));
  if (!episode.ok || !/^\d{1,9}$/.test(step)) return err(badCursor(text));
  return ok({ episode: episode.value, step: Number(step) });
}

const badCursor = (text: string | null) =>
  failure("plane.cursor", `'${text}' is not where a list of trajectories goes on; begin without a cursor`);
