import { expect, test } from "vitest";
import { seconds } from "../../base/index.ts";
import { parseCampaign } from "./campaign-file.ts";
import { outcomeJson } from "./report.ts";
import { runInject } from "./run-inject.ts";

const head = "application: hotel-reservation\nseconds: 12\nload: 150\n";
const one = (change = "") => `${head}injections:
  - target: recommendation
    kind: cpu
    startSeconds: 3
    durationSeconds: 5
    intensity: 0.9
${change}`;

const messageOf = (text: string): string => {
  try {
    parseCampaign(text, "c.yaml");
  } catch (thrown) {
    return (thrown as Error).message;
  }
  return "accepted";
};

test("a campaign file becomes injections, with units and defaults", () => {
  const campaign = parseCampaign(one("guard: { maxDurationSeconds: 4, protectedTargets: [frontend-0] }\n"), "c.yaml");
  expect(campaign).toMatchObject({ seed: 1, until: 12_000, load: 150, dispersion: 1 });
  expect(campaign.injections).toEqual([
    {
      id: "injection-1",
      kind: "cpu",
      target: { on: "instance", service: "recommendation", replica: 0 },
      start: seconds(3),
      duration: seconds(5),
      pattern: "constant",
      intensity: 0.9,
    },
  ]);
  expect(campaign.limits).toMatchObject({ maxDuration: 4_000, protectedTargets: ["frontend-0"] });
});

test("targets name a service, a replica, a node or requests", () => {
  const targetOf = (target: string, kind = "cpu") =>
    parseCampaign(one().replace("recommendation", target).replace("cpu", kind), "c.yaml").injections[0]?.target;
  expect(targetOf("geo/2")).toEqual({ on: "instance", service: "geo", replica: 2 });
  expect(targetOf("node:x86-3")).toEqual({ on: "node", node: "x86-3" });
  expect(targetOf("requests:login", "workload-variation")).toEqual({ on: "requests", request: "login" });
});

test("what is wrong is named with file, line, field and what would be right", () => {
  expect(messageOf(one().replace("hotel-reservation", "hotel"))).toBe(
    "c.yaml:1: application must be one of social-network, media, hotel-reservation, train-ticket",
  );
  expect(messageOf(one().replace("recommendation", "recomendation"))).toBe(
    "c.yaml:5: injections.0.target must be a target: hotel-reservation has no service 'recomendation'; did you mean 'recommendation'?",
  );
  expect(messageOf(one().replace("kind: cpu", "kind: gpu"))).toContain("c.yaml:6: injections.0.kind is not valid");
  expect(messageOf(one().replace("kind: cpu", "kind: workload-variation"))).toContain(
    "c.yaml:5: injections.0.target must be 'requests:all' or 'requests:<type>' for the kind workload-variation",
  );
  expect(messageOf(one().replace("startSeconds: 3", "startSeconds: 12"))).toContain(
    "c.yaml:7: injections.0.startSeconds must lie before the campaign's end at 12 s",
  );
  expect(messageOf(one().replace("intensity: 0.9", "intensity: 9"))).toContain("c.yaml:9: injections.0.intensity");
  expect(messageOf(one("intensty: 1\n"))).toContain("c.yaml:10: unknown key 'intensty'");
  expect(messageOf(head)).toContain("give 'injections', 'random' or 'windows'");
  expect(messageOf(`${head}random: { targets: [nobody] }\n`)).toContain("c.yaml:4: random.targets.0 must be a target");
});

test("random and windowed campaigns are drawn from the file's seed", () => {
  const draw = (seed: number) =>
    parseCampaign(`${head}seed: ${seed}\nrandom: { kinds: [llc, cpu] }\nwindows: { seconds: 6 }\n`, "c.yaml")
      .injections;
  expect(draw(2)).toEqual(draw(2));
  expect(draw(2)).not.toEqual(draw(3));
  const windowed = draw(2).filter(({ id }) => id.startsWith("window"));
  // Two windows of six seconds, each with all seven kinds.
  expect(windowed).toHaveLength(14);
});

test("a run says what was done, what it cost, and who is to blame", async () => {
  const campaign = parseCampaign(
    one("  - { target: geo, kind: llc, startSeconds: 9, durationSeconds: 2, intensity: 0.01 }\n"),
    "c.yaml",
  );
  const notes = new Set<string>();
  const outcome = await runInject({
    campaign,
    hasLabels: true,
    onProgress: (fraction, note) => {
      expect(fraction).toBeLessThanOrEqual(1);
      notes.add(note);
    },
    signal: new AbortController().signal,
  });
  const json = outcomeJson(campaign, outcome);
  expect(json.injections.map(({ target, label }) => [target, label?.isCulprit])).toEqual([
    ["recommendation-0", true],
    ["geo-0", false],
  ]);
  expect(json.injections[0]?.missedDuring).toBeGreaterThan(100);
  expect(json.timeline).toHaveLength(12);
  expect(json.timeline[5]).toMatchObject({ second: 6, active: 1 });
  expect(json.requests.map(({ request }) => request)).toEqual(["search-hotels", "recommend", "login", "reserve"]);
  expect(notes).toContain("labelling cpu recommendation-0");
});

test("a campaign stops when it is told to", async () => {
  const controller = new AbortController();
  controller.abort(new Error("enough"));
  const run = runInject({
    campaign: parseCampaign(one(), "c.yaml"),
    hasLabels: false,
    onProgress: () => {},
    signal: controller.signal,
  });
  await expect(run).rejects.toThrow("enough");
});
