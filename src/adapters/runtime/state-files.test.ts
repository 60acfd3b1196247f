import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import type { AgentId } from "../../base/index.ts";
import { unwrap } from "../../base/index.ts";
import { stateFiles } from "./state-files.ts";

const agent = "shop.web" as AgentId;
const signal = new AbortController().signal;
let folder = "";
beforeEach(() => {
  folder = temporaryFolder("state");
});

const bytes = (...values: number[]) => Uint8Array.from(values);
const file = (name: string) => join(folder, agent, name);
const damage = (name: string) => {
  const content = readFileSync(file(name));
  content[content.length - 1]! ^= 1;
  writeFileSync(file(name), content);
};

describe("state files", () => {
  test("an agent that was never saved has no state, and that is no failure", async () => {
    expect(unwrap(await stateFiles({ folder }).read(agent, signal))).toEqual({ states: [], damaged: [] });
  });

  test("the newest state comes first, and the one before it is kept", async () => {
    const store = stateFiles({ folder });
    for (const n of [1, 2, 3]) unwrap(await store.write(agent, bytes(n, n), signal));
    const { states } = unwrap(await stateFiles({ folder }).read(agent, signal));
    expect(states.map((state) => [...state])).toEqual([
      [3, 3],
      [2, 2],
    ]);
    expect(readdirSync(join(folder, agent)).sort()).toEqual(["newest", "previous"]);
  });

  test("a newest state with one flipped bit is told as damaged, and the one before it is used", async () => {
    const store = stateFiles({ folder });
    for (const n of [1, 2]) unwrap(await store.write(agent, bytes(n), signal));
    damage("newest");
    const { states, damaged } = unwrap(await stateFiles({ folder }).read(agent, signal));
    expect(states.map((state) => [...state])).toEqual([[1]]);
    expect(damaged).toMatchObject([{ code: "state.corrupt" }]);
  });

  test("a damaged newest state does not push out the good one before it", async () => {
    const store = stateFiles({ folder });
    for (const n of [1, 2]) unwrap(await store.write(agent, bytes(n), signal));
    damage("newest");
    unwrap(await stateFiles({ folder }).write(agent, bytes(3), signal));
    const { states } = unwrap(await stateFiles({ folder }).read(agent, signal));
    expect(states.map((state) => [...state])).toEqual([[3], [1]]);
  });

  test("a file of another kind is damaged, not state", async () => {
    unwrap(await stateFiles({ folder }).write(agent, bytes(1), signal));
    writeFileSync(file("newest"), "not a state at all");
    const { states, damaged } = unwrap(await stateFiles({ folder }).read(agent, signal));
    expect(states).toEqual([]);
    expect(damaged).toHaveLength(1);
  });

  test("a write that was given up leaves what was there", async () => {
    const store = stateFiles({ folder });
    unwrap(await store.write(agent, bytes(1), signal));
    const given = await store.write(agent, bytes(2), AbortSignal.abort());
    expect(given).toMatchObject({ ok: false, failure: { code: "state.unwritable", retry: true } });
    expect(unwrap(await store.read(agent, signal)).states).toEqual([bytes(1)]);
    expect(readdirSync(join(folder, agent))).toEqual(["newest"]);
  });

  test("a folder that cannot be written is a coded failure", async () => {
    writeFileSync(join(folder, "taken"), "");
    const store = stateFiles({ folder: join(folder, "taken") });
    expect(await store.write(agent, bytes(1), signal)).toMatchObject({
      ok: false,
      failure: { code: "state.unwritable" },
    });
    expect(await store.read(agent, signal)).toMatchObject({ ok: false, failure: { code: "state.unreadable" } });
  });

  test("state that was set aside is kept under another name, out of the way of new state", async () => {
    const store = stateFiles({ folder });
    unwrap(await store.write(agent, bytes(1), signal));
    unwrap(await store.setAside(agent, signal));
    expect(unwrap(await store.read(agent, signal)).states).toEqual([]);
    unwrap(await store.write(agent, bytes(2), signal));
    const aside = readdirSync(folder).find((name) => name.startsWith(`${agent}~refused-`));
    expect(readFileSync(join(folder, aside ?? "", "newest")).at(-1)).toBe(1);
  });
});
