import { expect, test } from "vitest";
import { type AgentId, failure, milliseconds, type WorkloadId } from "../base/index.ts";
import { eventText } from "./event-texts.ts";

const about = { title: "Web shop", fallback: "HPA and VPA" };
const of = { at: milliseconds(0), agent: "web-shop-agent" as AgentId, workload: "web-shop" as WorkloadId };
const damaged = [failure("state.corrupt", "the saved state /data/newest cannot be used (it is damaged)")];

test("a handover says why, in words where the reason is not one already", () => {
  const handover = (rule: string, detail: string) =>
    eventText(
      {
        ...of,
        kind: "agent",
        event: {
          name: "handover",
          evidence: { from: { who: "learner", rule: "serving" }, to: { who: "fallback", rule }, detail },
        },
      },
      about,
    )?.text;
  expect(handover("paused", "")).toBe("Web shop: now acts fallback: paused");
  expect(handover("model-learning", "too little was seen")).toBe(
    "Web shop: now acts fallback: the model of what it needs is still learning (too little was seen)",
  );
});

test("a damaged state is named where an agent goes on from another one, or anew", () => {
  expect(eventText({ ...of, kind: "restarted", from: "saved", damaged: [] }, about)).toMatchObject({
    severity: "notice",
    text: "Web shop: the agent goes on from its saved state",
  });
  // `saved` is the newest that is whole, which is the one before it here.
  expect(eventText({ ...of, kind: "restarted", from: "saved", damaged }, about)).toMatchObject({
    severity: "warning",
    text: "Web shop: the agent goes on from the other saved state: the saved state /data/newest cannot be used (it is damaged)",
  });
  expect(eventText({ ...of, kind: "restarted", from: "nothing", damaged }, about)).toMatchObject({
    severity: "warning",
    text: expect.stringMatching(/begins anew, no saved state could be used: the saved state \/data\/newest cannot/),
  });
});
