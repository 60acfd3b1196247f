/** After a restart an agent's past comes back from the trajectory store, beside the turns, whatever the store is like. */
import { describe, expect, test } from "vitest";
import { agentId, memoryState, never, SettableClock, START, stage } from "../../../test/fixtures/loop/scripted.ts";
import { memoryStore } from "../../adapters/store/index.ts";
import type { EpisodeId, Failure, Ms } from "../../base/index.ts";
import { CodedError, failure, seconds } from "../../base/index.ts";
import type { EpisodeEnd, TrajectoryRecord, TrajectoryStore, Transition } from "../../learn/trajectory/index.ts";
import { schemaMismatch } from "../../learn/trajectory/index.ts";
import type { LoopEvent, Recollection } from "./index.ts";

const PERIOD = 15_000;
const periods = (count: number) => count * PERIOD - 100;
const web = agentId("web");

/** Step n of an episode was taken at n seconds after the episode's own start, saw n and earned n/10. */
function stepOf(episode: string, step: number, more: Partial<TrajectoryRecord> = {}): TrajectoryRecord {
  return {
    episode: episode as EpisodeId,
    agent: web,
    step,
    at: (Number(episode.replace(/\D/g, "")) * 1_000_000 + step * 1_000) as Ms,
    obs: Float32Array.of(step),
    proposed: Float32Array.of(1),
    executed: Float32Array.of(2),
    logProb: null,
    reward: step / 10,
    end: "no",
    ...more,
  };
}

const end = { end: "truncated" as EpisodeEnd, finalObs: Float32Array.of(99) };

/** Remembers what it was given. Steps of a width other than one are refused, as a learner does. */
class Past implements Recollection {
  readonly most: number;
  readonly own: number;
  readonly portions: (readonly Transition[])[] = [];
  readonly firsts: boolean[] = [];

  constructor(most: number, own = 0) {
    this.most = most;
    this.own = own;
  }

  take(steps: readonly Transition[], { isFirst }: { readonly isFirst: boolean }): readonly Failure[] {
    this.portions.push(steps);
    this.firsts.push(isFirst);
    return steps.flatMap(({ record }) =>
      record.obs.length === 1 ? [] : [failure("rl.shape", "the observation has 2 components and should have 1")],
    );
  }

  /** "episode/step→next" of each step. */
  get taken(): string[] {
    return this.portions.flat().map(({ record, nextObs }) => `${record.episode}/${record.step}→${nextObs?.[0]}`);
  }
}

const recalled = (events: readonly LoopEvent[]) => events.filter(({ kind }) => kind === "recalled");

async function storeWith(...records: readonly TrajectoryRecord[]): Promise<TrajectoryStore> {
  const store = memoryStore();
  await store.append(records);
  return store;
}

/** The store with some of its calls replaced. */
function altered(store: TrajectoryStore, calls: Partial<TrajectoryStore>): TrajectoryStore {
  return new Proxy(store, {
    get: (target, name: keyof TrajectoryStore) => calls[name] ?? target[name]?.bind(target),
  });
}

describe("an agent that starts again", () => {
  test("is given its newest steps, oldest first, of unfinished episodes as well", async () => {
    const store = await storeWith(
      stepOf("e1", 0),
      stepOf("e1", 1, end),
      // Killed in the middle: step 1 waits for its reward for good, and is what followed step 0.
      stepOf("e2", 0),
      stepOf("e2", 1, { reward: null }),
      stepOf("e3", 0),
      stepOf("e3", 1),
      stepOf("e3", 2, end),
    );
    const past = new Past(5);
    const { clock, loop, slot, events } = stage({ store });
    slot("web", { recollection: past });
    await clock.pass(periods(1));
    expect(past.taken).toEqual(["e1/1→99", "e2/0→1", "e3/0→1", "e3/1→2", "e3/2→99"]);
    expect(past.firsts).toEqual([true]);
    await loop.stop();
    expect(recalled(events)).toMatchObject([{ agent: "web", from: "store", steps: 5, skipped: [] }]);
  });

  test("gets them in portions, between which others have their turns", async () => {
    const store = await storeWith(...Array.from({ length: 600 }, (_, step) => stepOf("e1", step)));
    const past = new Past(50_000);
    const { clock, loop, slot } = stage({ store });
    slot("web", { recollection: past });
    await clock.pass(0);
    expect(past.portions.map(({ length }) => length)).toEqual([256]);
    await clock.pass(200);
    expect(past.portions.map(({ length }) => length)).toEqual([256, 256, 87]);
    expect(past.firsts).toEqual([true, false, false]);
    await loop.stop();
  });

  test("keeps its own steps where the store has no more than those", async () => {
    const store = await storeWith(stepOf("e1", 0), stepOf("e1", 1, end));
    const past = new Past(50, 2);
    const { clock, loop, slot, events } = stage({ store });
    slot("web", { recollection: past });
    await clock.pass(periods(2));
    expect(past.portions).toEqual([]);
    await loop.stop();
    expect(recalled(events)).toEqual([]);
  });

  test("does so in every life, also when it was made anew after crashes", async () => {
    const store = await storeWith(stepOf("e1", 0), stepOf("e1", 1, end));
    const past = new Past(2);
    const { clock, loop, slot } = stage({ store, state: memoryState() });
    const { made } = slot("web", { recollection: past });
    await clock.pass(periods(1));
    const [first] = made;
    first!.tick = () => {
      throw new RangeError("index out of range");
    };
    await clock.pass(4 * PERIOD);
    expect(made).toHaveLength(2);
    // The second life finds what the first one recorded as well: its own one step, which has no successor and no reward.
    expect(past.taken).toEqual(["e1/0→1", "e1/1→99", "e1/0→1", "e1/1→99"]);
    await loop.stop();
  });

  test("is trained meanwhile on what it has, but not while its past is being exchanged", async () => {
    const store = await storeWith(...Array.from({ length: 600 }, (_, step) => stepOf("e1", step)));
    const clock = new SettableClock(START);
    const asked: boolean[] = [];
    let isExchanging = false;
    const past = new (class extends Past {
      override take(steps: readonly Transition[], options: { readonly isFirst: boolean }) {
        isExchanging = this.portions.length < 2;
        // A portion a turn, as on a machine that is too busy for more.
        clock.manual.advance(PERIOD as Ms);
        return super.take(steps, options);
      }
    })(50_000);
    const training = () => {
      asked.push(isExchanging);
      return undefined;
    };
    const { loop, slot } = stage({ store, clock, trainer: { slots: 1, train: never } });
    const { agent } = slot("web", { recollection: past, training });
    await clock.pass(periods(5));
    expect(past.portions).toHaveLength(3);
    expect(agent.seen.length).toBeGreaterThan(asked.length);
    expect(new Set(asked)).toEqual(new Set([false]));
    await loop.stop();
  });
});

describe("a store", () => {
  test("that is slow delays no turn", async () => {
    const clock = new SettableClock(START);
    const inner = await storeWith(stepOf("e1", 0), stepOf("e1", 1, end));
    const store = altered(inner, {
      recentEpisodes: async (agent, count) => {
        await clock.sleep(seconds(20));
        return inner.recentEpisodes(agent, count);
      },
    });
    const past = new Past(50);
    const { loop, slot } = stage({ store, clock });
    const { agent } = slot("web", { recollection: past });
    await clock.pass(periods(1));
    expect(agent.seen.map(({ now }) => now - START)).toEqual([0]);
    expect(past.portions).toEqual([]);
    await clock.pass(PERIOD);
    expect(agent.seen.map(({ now }) => now - START)).toEqual([0, PERIOD]);
    // What was learned from meanwhile is stored by now, and comes along in its place.
    expect(past.taken).toEqual(["e1/0→1", "e1/1→99", `web.${START.toString(36)}-0.0/0→1`]);
    await loop.stop();
  });

  test("that never answers is given up, the agent goes on with its own steps, and others do not wait for it", async () => {
    let calls = 0;
    const store = altered(memoryStore(), {
      recentEpisodes: () => {
        calls += 1;
        return never();
      },
    });
    const { clock, loop, slot, events } = stage({ store, config: { recall: seconds(30) } });
    const agents = ["web", "api", "batch"].map((name) => slot(name, { recollection: new Past(50, 7) }).agent);
    await clock.pass(periods(4));
    // Two are asked for at once, the third is spared: a store that did not answer these would not answer it.
    expect(calls).toBe(2);
    expect(agents.map(({ seen }) => seen.length)).toEqual([4, 4, 4]);
    await loop.stop();
    expect(recalled(events)).toHaveLength(3);
    for (const event of recalled(events))
      expect(event).toMatchObject({
        from: "saved",
        steps: 7,
        skipped: [{ failure: { code: "loop.timeout" }, count: 1 }],
      });
  });

  test("that has no time for all gives the newest", async () => {
    const clock = new SettableClock(START);
    const inner = await storeWith(...[1, 2, 3, 4, 5].flatMap((e) => [stepOf(`e${e}`, 0), stepOf(`e${e}`, 1, end)]));
    const store = altered(inner, {
      episode: async (id) => {
        await clock.sleep(seconds(4));
        return inner.episode(id);
      },
    });
    const past = new Past(50);
    const { loop, slot, events } = stage({ store, clock, config: { recall: seconds(10) } });
    slot("web", { recollection: past });
    await clock.pass(periods(2));
    expect(past.taken).toEqual(["e4/0→1", "e4/1→99", "e5/0→1", "e5/1→99"]);
    await loop.stop();
    expect(recalled(events)).toMatchObject([
      { from: "store", steps: 4, skipped: [{ failure: { code: "loop.timeout" } }] },
    ]);
  });

  test("that is stopped with the loop keeps nobody waiting", async () => {
    const store = altered(memoryStore(), { recentEpisodes: never });
    const { clock, loop, slot } = stage({ store });
    slot("web", { recollection: new Past(50) });
    await clock.pass(1_000);
    expect((await loop.stop()).agents).toHaveLength(1);
  });
});

describe("a corrupt trajectory", () => {
  /** Of five episodes, each of two good steps, these are not as they should be. */
  async function storeOf(bad: Record<string, (good: TrajectoryRecord[]) => TrajectoryRecord[]>) {
    const inner = await storeWith(...[1, 2, 3, 4, 5].flatMap((e) => [stepOf(`e${e}`, 0), stepOf(`e${e}`, 1, end)]));
    return altered(inner, { episode: async (id) => (bad[id] ?? ((good) => good))(await inner.episode(id)) });
  }
  const refuse = (why: Failure) => () => {
    throw new CodedError(why);
  };

  test("costs itself only: the rest comes back, each kind is named once, and the agent goes on", async () => {
    const store = await storeOf({
      // Bytes that are no record, as DuckDB reports them.
      e5: refuse(failure("store.corrupt", "a record without observation")),
      e4: ([first, second]) => [{ ...first!, reward: Number.NaN }, second!],
      e3: refuse(schemaMismatch("a batch", 9)),
      e2: ([first, second]) => [{ ...first!, obs: Float32Array.of(1, 2) }, second!],
      e1: ([first, second]) => [first!, { ...second!, obs: Float32Array.of(Number.POSITIVE_INFINITY) }],
    });
    const past = new Past(50);
    const { clock, loop, slot, events } = stage({ store });
    const { agent } = slot("web", { recollection: past });
    await clock.pass(periods(2));
    expect(agent.seen).toHaveLength(2);
    // e2/0 is handed over and refused for its width; e1/0 has nothing left that followed it.
    expect(past.taken).toEqual(["e2/0→1", "e2/1→99", "e4/1→99"]);
    await loop.stop();
    expect(recalled(events)).toMatchObject([
      {
        from: "store",
        steps: 2,
        skipped: [
          { failure: { code: "store.corrupt" }, count: 1 },
          { failure: { code: "trajectory.invalid" }, count: 2 },
          { failure: { code: "store.schema" }, count: 1 },
          { failure: { code: "rl.shape" }, count: 1 },
        ],
      },
    ]);
    expect(events.some(({ kind }) => kind === "crashed")).toBe(false);
  });

  test("that makes the agent throw is a named failure, and its turns go on", async () => {
    const store = await storeOf({});
    const recollection: Recollection = {
      most: 9,
      own: 0,
      take: () => {
        throw new TypeError("not a step");
      },
    };
    const { clock, loop, slot, events } = stage({ store });
    const { agent } = slot("web", { recollection });
    await clock.pass(periods(2));
    expect(agent.seen).toHaveLength(2);
    await loop.stop();
    expect(recalled(events)).toMatchObject([{ steps: 0, skipped: [{ failure: { code: "loop.recall" }, count: 1 }] }]);
  });
});
