/** Saved state: what is believed after a restart, and that a good state is never lost to a fresh start. */
import { describe, expect, test } from "vitest";
import { agentId, memoryState, never, stage } from "../../../test/fixtures/loop/scripted.ts";
import type { Ms } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { StateStore } from "./index.ts";

const PERIOD = 15_000;
const periods = (count: number) => count * PERIOD - 100;
const web = agentId("web");

describe("an agent that starts again", () => {
  test("goes on from the state that stopping saved", async () => {
    const state = memoryState();
    const first = stage({ state });
    first.slot("web");
    await first.clock.pass(periods(4));
    await first.loop.stop();
    expect(state.files.get(web)?.[0]).toEqual(Uint8Array.of(4));

    const second = stage({ state });
    const { agent } = second.slot("web");
    await second.clock.pass(periods(1));
    expect(agent.turns).toBe(5);
    await second.loop.stop();
    expect(second.events).toContainEqual(expect.objectContaining({ kind: "restarted", from: "saved", damaged: [] }));
  });

  test("goes on from its last turn, though a save was under way when it was stopped", async () => {
    const state = memoryState();
    let finish = () => {};
    const slow: StateStore = {
      ...state,
      write: async (agent, bytes, signal) => {
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        return state.write(agent, bytes, signal);
      },
    };
    // A save begins with the third turn and lasts over the fourth.
    const { clock, loop, slot } = stage({ state: slow, config: { saveEvery: 3, state: 600_000 as Ms } });
    slot("web");
    await clock.pass(periods(4));
    const stopped = loop.stop();
    finish();
    await clock.pass(10);
    finish();
    await stopped;
    expect(state.files.get(web)).toEqual([Uint8Array.of(4), Uint8Array.of(3)]);
  });

  test("names its episodes apart from those before, though its own count repeats", async () => {
    const state = memoryState();
    const first = stage({ state });
    first.slot("web");
    await first.clock.pass(periods(3));
    const { store } = first;
    await first.loop.stop();
    // Killed before anything was saved: the new one begins at step 0 of episode 0 again, in the same store.
    const second = stage({ state: memoryState(), store });
    second.clock.offset = 60_000;
    second.slot("web");
    await second.clock.pass(periods(3));
    const { recorder } = await second.loop.stop();
    expect(recorder).toMatchObject({ lost: 0 });
    expect(await store.counts()).toMatchObject({ episodes: 2, records: 6 });
  });

  test("uses the state before where the newest is refused, and says why", async () => {
    const state = memoryState();
    state.files.set(web, [Uint8Array.of(9), Uint8Array.of(7)]);
    const otherVersion = failure("lifecycle.schema", "written by version 2");
    const { clock, loop, slot, events } = stage({ state });
    const { agent } = slot("web", { load: (bytes) => (bytes[0] === 9 ? err(otherVersion) : ok(undefined)) });
    await clock.pass(periods(1));
    expect(agent.turns).toBe(8);
    await loop.stop();
    expect(events).toContainEqual(
      expect.objectContaining({ kind: "restarted", from: "previous", damaged: [otherVersion] }),
    );
  });

  test("begins anew where all are refused, and they are set aside, not overwritten", async () => {
    const state = memoryState();
    state.files.set(web, [Uint8Array.of(9)]);
    const otherVersion = failure("lifecycle.schema", "written by version 2");
    const { clock, loop, slot, events } = stage({ state });
    const { agent } = slot("web", { load: () => err(otherVersion) });
    await clock.pass(periods(1));
    expect(agent.turns).toBe(1);
    expect(state.aside).toEqual([web]);
    await loop.stop();
    expect(events).toContainEqual(
      expect.objectContaining({ kind: "restarted", from: "nothing", damaged: [otherVersion] }),
    );
  });

  test("saves nothing while a refused state could not be set aside", async () => {
    const state = memoryState();
    state.files.set(web, [Uint8Array.of(9)]);
    const stuck: StateStore = { ...state, setAside: async () => err(failure("state.unwritable", "read-only")) };
    const { clock, loop, slot } = stage({ state: stuck, config: { saveEvery: 1 } });
    const { agent } = slot("web", { load: () => err(failure("lifecycle.schema", "written by version 2")) });
    await clock.pass(periods(3));
    expect(agent.turns).toBe(3);
    await loop.stop();
    expect(state.files.get(web)).toEqual([Uint8Array.of(9)]);
  });

  test("has its turns while the saved state cannot be read, and saves nothing over it until it could", async () => {
    const state = memoryState();
    state.files.set(web, [Uint8Array.of(40)]);
    let isDown = true;
    const down: StateStore = {
      ...state,
      read: (agent, signal) => (isDown ? never() : state.read(agent, signal)),
    };
    const { clock, loop, slot } = stage({ state: down, config: { saveEvery: 1 } });
    const { agent } = slot("web");
    await clock.pass(periods(3));
    expect(agent.seen).toHaveLength(3);
    expect(state.files.get(web)).toEqual([Uint8Array.of(40)]);
    isDown = false;
    // The three reads that hang are still out; this one is answered.
    await clock.pass(PERIOD);
    expect(agent.turns).toBe(41);
    await loop.stop();
  });

  test("is given its state later when the store comes back", async () => {
    const state = memoryState();
    state.files.set(web, [Uint8Array.of(40)]);
    let turn = 0;
    const flaky: StateStore = {
      ...state,
      read: async (agent, signal) =>
        ++turn < 3 ? err(failure("file.denied", "locked for now", { retry: true })) : state.read(agent, signal),
    };
    const { clock, loop, slot, events } = stage({ state: flaky, config: { saveEvery: 1 } });
    const { agent } = slot("web");
    await clock.pass(periods(2));
    expect(state.files.get(web)).toEqual([Uint8Array.of(40)]);
    await clock.pass(PERIOD);
    // Two turns from nothing, then the saved forty, then this turn's own.
    expect(agent.turns).toBe(41);
    await loop.stop();
    expect(events).toContainEqual(expect.objectContaining({ kind: "port-recovered", port: "state", failures: 2 }));
  });
});

describe("saving", () => {
  test("happens every so many turns, and at once when the agent had something to tell", async () => {
    const state = memoryState();
    const saves: number[] = [];
    const watched: StateStore = {
      ...state,
      write: (agent, bytes, signal) => {
        saves.push(bytes[0] ?? 0);
        return state.write(agent, bytes, signal);
      },
    };
    const { clock, loop, slot } = stage({ state: watched, config: { saveEvery: 4 } });
    const { agent } = slot("web");
    const plain = agent.tick.bind(agent);
    agent.tick = (input) => ({
      ...plain(input),
      events: agent.turns === 6 ? [{ name: "transition", evidence: 1 }] : [],
    });
    await clock.pass(periods(11));
    // After turns 4 and 6, then four turns later.
    expect(saves).toEqual([4, 6, 10]);
    await loop.stop();
    expect(saves).toEqual([4, 6, 10, 11]);
  });

  test("to a store that refuses is told, and the turns go on", async () => {
    const refusal = failure("file.disk-full", "no space", { retry: true });
    const state: StateStore = { ...memoryState(), write: async () => err(refusal) };
    const { clock, loop, slot, events } = stage({ state, config: { saveEvery: 1 } });
    const { agent } = slot("web");
    await clock.pass(periods(3));
    expect(agent.seen).toHaveLength(3);
    await loop.stop();
    expect(events).toContainEqual(expect.objectContaining({ kind: "port-failing", port: "state", failure: refusal }));
  });
});

describe("an agent that crashes", () => {
  test("leaves its workload as it is, and nobody else hears of it", async () => {
    const { clock, loop, slot, statusOf, actuator } = stage();
    slot("web", {
      tick: () => {
        throw new RangeError("index out of range");
      },
    });
    const { agent: other } = slot("api");
    await clock.pass(periods(2));
    expect(other.seen).toHaveLength(2);
    expect(statusOf("web")).toMatchObject({ turns: 2, crashes: 2 });
    expect(await actuator.read("web" as never, new AbortController().signal)).toMatchObject({ value: { copies: 2 } });
    await loop.stop();
  });

  test("but recovers by itself in between is left alone", async () => {
    let turn = 0;
    const { clock, loop, slot, statusOf } = stage();
    const { made, agent } = slot("web");
    const plain = agent.tick.bind(agent);
    agent.tick = (input) => {
      if (turn++ % 3 !== 2) throw new RangeError("index out of range");
      return plain(input);
    };
    await clock.pass(periods(9));
    expect(statusOf("web").crashes).toBe(6);
    expect(made).toHaveLength(1);
    await loop.stop();
  });

  test("is made anew from its saved state after three crashes in a row", async () => {
    const state = memoryState();
    let isSick = false;
    const { clock, loop, slot, events } = stage({ state, config: { saveEvery: 1 } });
    const { made } = slot("web");
    const [first] = made;
    const plain = first!.tick.bind(first);
    first!.tick = (input) => {
      if (isSick) throw new RangeError("index out of range");
      return plain(input);
    };
    await clock.pass(periods(4));
    isSick = true;
    await clock.pass(3 * PERIOD);
    expect(made).toHaveLength(2);
    expect(first!.isDisposed).toBe(true);
    await clock.pass(PERIOD);
    // Four good turns were saved; the new one goes on with its fifth.
    expect(made[1]!.turns).toBe(5);
    await loop.stop();
    const told = events.filter(({ kind }) => kind === "crashed" || kind === "restarted");
    expect(told).toMatchObject([
      { kind: "crashed", inARow: 1, failure: { code: "loop.agent-crashed" } },
      { kind: "crashed", inARow: 2 },
      { kind: "crashed", inARow: 3 },
      { kind: "restarted", from: "saved" },
    ]);
  });
});
