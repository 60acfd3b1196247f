import { describe, expect, test } from "vitest";
import { failureOf, ManualClock, milliseconds } from "../../base/index.ts";
import type { HostedSession } from "./hosted-session.ts";
import { SessionTable } from "./session-table.ts";

function setup(maxSessions = 2) {
  const clock = new ManualClock();
  const closed: string[] = [];
  const world = (name: string) => async () =>
    ({ close: async () => void closed.push(name) }) as unknown as HostedSession;
  const kicks: string[] = [];
  const kick = (who: string) => (why: { code: string }) => void kicks.push(`${who} ${why.code}`);
  return {
    clock,
    closed,
    world,
    kicks,
    kick,
    table: new SessionTable({ clock, maxSessions, idle: milliseconds(100) }),
  };
}

const codeOf = async (job: () => unknown): Promise<string | undefined> => {
  try {
    await job();
    return undefined;
  } catch (thrown) {
    return failureOf(thrown)?.code;
  }
};

describe("the table of sessions", () => {
  test("keeps as many sessions as allowed, and takes another when one ends", async () => {
    const { table, world, kick, closed } = setup();
    const first = await table.open(world("a"), kick("a"));
    await table.open(world("b"), kick("b"));
    expect(await codeOf(() => table.open(world("c"), kick("c")))).toBe("env.too-many-sessions");
    await table.end(first);
    expect(closed).toEqual(["a"]);
    expect((await table.open(world("c"), kick("c"))).token).not.toBe(first.token);
  });

  test("counts sessions whose world is still being made", async () => {
    const { table, world, kick } = setup(1);
    const making = table.open(world("a"), kick("a"));
    expect(await codeOf(() => table.open(world("b"), kick("b")))).toBe("env.too-many-sessions");
    await making;
  });

  test("gives the room back when a world cannot be made", async () => {
    const { table, world, kick } = setup(1);
    await expect(table.open(() => Promise.reject(new Error("no")), kick("a"))).rejects.toThrow("no");
    expect((await table.open(world("b"), kick("b"))).hosted).toBeDefined();
  });

  test("forgets a session after its idle time, counted from the last message", async () => {
    const { table, world, kick, clock, closed, kicks } = setup();
    const slot = await table.open(world("a"), kick("a"));
    clock.advance(milliseconds(90));
    table.touch(slot);
    clock.advance(milliseconds(90));
    table.sweep();
    expect([table.size, closed]).toEqual([1, []]);
    clock.advance(milliseconds(11));
    table.sweep();
    expect([table.size, closed, kicks]).toEqual([0, ["a"], ["a env.session-lost"]]);
    expect(await codeOf(() => table.resume(slot.token, kick("late")))).toBe("env.session-lost");
  });

  test("moves a session to the client that came last", async () => {
    const { table, world, kick, kicks } = setup();
    const old = kick("old");
    const slot = await table.open(world("a"), old);
    const current = kick("new");
    expect(table.resume(slot.token, current).hosted).toBe(slot.hosted);
    expect(kicks).toEqual(["old env.session-moved"]);
    // The old stream ends later and must not detach the new one.
    table.leave(slot, old);
    table.resume(slot.token, kick("third"));
    expect(kicks).toEqual(["old env.session-moved", "new env.session-moved"]);
  });

  test("does not take a session's id for its token", async () => {
    const { table, world, kick } = setup();
    const slot = await table.open(world("a"), kick("a"));
    expect(await codeOf(() => table.resume(slot.id, kick("b")))).toBe("env.session-lost");
  });
});
