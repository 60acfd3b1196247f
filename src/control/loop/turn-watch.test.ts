import { describe, expect, test } from "vitest";
import { stage } from "../../../test/fixtures/loop/scripted.ts";
import type { TurnWatcher } from "./index.ts";

/** Writes down what it is told, one line per call. */
function scribe(): TurnWatcher & { readonly lines: string[] } {
  const lines: string[] = [];
  return {
    lines,
    begin: (agent, workload) => {
      lines.push(`${agent} of ${workload}`);
      return {
        enter: (phase) => void lines.push(phase),
        end: (tick, applied) =>
          void lines.push(`end: ${tick?.why[0]?.rule}, ${applied === null ? "held" : applied.ok}`),
      };
    },
  };
}

const TURN = 14_900;

describe("a watched turn", () => {
  test("tells its phases in order, and leaves out what it did not do", async () => {
    const watcher = scribe();
    const { clock, loop, slot } = stage({ watcher });
    slot("web", { copies: (turn) => (turn === 0 ? 5 : 2) });
    await clock.pass(TURN + 15_000);
    await loop.stop();
    expect(watcher.lines).toEqual([
      ...["web of web", "restore", "read", "tick", "actuate", "record", "end: training, true"],
      ...["web of web", "read", "tick", "record", "end: training, held"],
    ]);
  });

  test("ends without a tick where the agent threw", async () => {
    const watcher = scribe();
    const { clock, loop, slot } = stage({ watcher });
    slot("web", {
      tick: () => {
        throw new Error("out of order");
      },
    });
    await clock.pass(TURN);
    await loop.stop();
    expect(watcher.lines).toEqual(["web of web", "restore", "read", "tick", "end: undefined, held"]);
  });

  test.each(["begin", "enter", "end"] as const)("goes on as ever when its watcher throws in `%s`", async (where) => {
    const fail = (here: string) => {
      if (here === where) throw new Error("no disk");
    };
    const watcher: TurnWatcher = {
      begin: () => {
        fail("begin");
        return { enter: () => fail("enter"), end: () => fail("end") };
      },
    };
    const { clock, loop, slot, events } = stage({ watcher });
    const { agent } = slot("web");
    await clock.pass(TURN + 15_000);
    await loop.stop();
    expect(agent.seen).toHaveLength(2);
    expect(events.filter(({ kind }) => kind === "decision")).toHaveLength(2);
  });
});
