import { expect, test } from "vitest";
import { Contender } from "./contender.ts";
import { interleave } from "./measure.ts";

/** A contender written in a line of JavaScript: 1 µs of wall and 500 ns of processor time per call. */
const honest = `
process.stdout.write("ready toy 1.0\\n");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const [verb, task, number] = line.split(" ");
  if (verb === "time" && task === "work") console.log("ok " + number * 1000 + " " + number * 500);
  else if (verb === "value") console.log("ok 42");
  else if (task === "crash") process.exit(7);
  else console.log("error no task " + task);
});`;

const start = (label: string) => new Contender(label, { program: process.execPath, args: ["-e", honest] });
const rounds = { count: 3, lengthMs: 1, warmupMs: 2, signal: new AbortController().signal };

test("a contender's laps and values come back as numbers", async () => {
  const toy = start("toy");
  expect(await toy.time("work", 20)).toEqual({ iterations: 20, wallNs: 20_000, cpuNs: 10_000 });
  expect(await toy.value("answer")).toBe(42);
  expect(toy.greeting).toBe("toy 1.0");
  await toy.close();
});

test("a task the contender does not know fails with the contender's own words", async () => {
  const toy = start("toy");
  await expect(toy.time("nothing", 1)).rejects.toThrow("no task nothing");
  await toy.close();
});

test("a contender that dies fails the request it was working on, and every later one", async () => {
  const toy = start("toy");
  await expect(toy.time("crash", 1)).rejects.toThrow("toy ended (exit code 7)");
  await expect(toy.time("work", 1)).rejects.toThrow("toy ended");
  await toy.close();
});

test("a program that does not exist is reported by name", async () => {
  const nobody = new Contender("nobody", { program: "/nonexistent/program", args: [] });
  await expect(nobody.time("work", 1)).rejects.toThrow("nobody did not start");
});

test("rounds give one timing per contender, and one that fails does not stop the others", async () => {
  const [a, b] = [start("a"), start("b")];
  const outcome = await interleave(
    [
      { key: "a", contender: a, task: "work" },
      { key: "b", contender: b, task: "unheard-of" },
    ],
    rounds,
  );
  expect(outcome.timings.get("a")).toMatchObject({ best: 500, median: 500, bestWall: 1_000, rounds: 3, crowding: 2 });
  expect(outcome.failed.get("b")).toContain("unheard-of");
  expect(outcome.timings.has("b")).toBe(false);
  await Promise.all([a.close(), b.close()]);
});

test("an aborted run stops between turns", async () => {
  const toy = start("toy");
  const abort = new AbortController();
  abort.abort(new Error("enough"));
  const work = [{ key: "toy", contender: toy, task: "work" }];
  await expect(interleave(work, { ...rounds, signal: abort.signal })).rejects.toThrow("enough");
  await toy.close();
});
