/** What knowing a workload is worth, as rows: in limits, and to the first belief of the product's agent. */
import { promiseAtLeast, promiseAtMost, shown } from "../claim.ts";
import type { RatioPair } from "../statistics/index.ts";
import { mean } from "../statistics/index.ts";
import type { StudyRow } from "../study.ts";
import { meanOver, percentMore, timesAsMuch } from "./compare.ts";
import type { FirstLives, WorthInLimits } from "./embedding-worth.ts";
import type { Life } from "./life.ts";
import { lengthOf, total } from "./life.ts";

/** Percent of reward that knowing the application is to bring in limits. */
const GAIN = 5;
/** Of the tuned rules' cost, from the first episode on in which the agent may act, and misses in a hundred that are no more. */
const FIRST_COST = 0.85;
const MARGIN = 0.2;

export function limitsRows(perSeed: readonly WorthInLimits[]): readonly StudyRow[] {
  if (perSeed.length === 0) return [];
  const over = (other: "neutral" | "stranger", id: string) =>
    percentMore(
      perSeed.map((worth) => ({ numerator: worth.embedded, denominator: worth[other] })),
      { id },
    );
  const what = "reward per episode in limits under the embedding of an unseen application, guided pre-training";
  return [
    promiseAtLeast(
      {
        id: "limits-gain",
        what: `${what}: how much more than under the neutral one`,
        paper: null,
        ours: over("neutral", "limits-gain"),
        claim: `at least ${GAIN} %`,
      },
      GAIN,
    ),
    shown({
      id: "limits-stranger",
      what: `${what}: how much more than under another application's`,
      ours: over("stranger", "limits-stranger"),
    }),
    shown({
      id: "limits-neutral",
      what: "reward per episode in limits under the neutral embedding, guided pre-training",
      ours: meanOver(
        perSeed.map(({ neutral }) => neutral),
        { id: "limits-neutral", unit: "" },
      ),
    }),
  ];
}

type Who = keyof FirstLives[number];

export function firstRows(perSeed: readonly FirstLives[]): readonly StudyRow[] {
  const lives = perSeed.flat();
  if (lives.length === 0) return [];
  // From the first episode on that did not begin with the rules in the seat.
  const from = (life: Life): number =>
    Math.max(
      0,
      [...life.stages].findIndex((stage) => stage === "N" || stage === "S"),
    );
  const pairs = (who: Who, other: Who): readonly (readonly RatioPair[])[] =>
    perSeed.map((scenes) =>
      scenes.map((scene) => {
        const span = { from: from(scene.agent) };
        return { numerator: total(scene[who], "cost", span), denominator: total(scene[other], "cost", span) };
      }),
    );
  const cost = (who: Who, other: Who, id: string) => timesAsMuch(pairs(who, other).map(pooled), { id });
  const misses = (who: Who, other: Who, id: string) =>
    meanOver(
      perSeed.map((scenes) =>
        mean(
          scenes.map((scene) => {
            const span = { from: from(scene.agent) };
            const steps = lengthOf(scene.agent) - span.from;
            return (
              (total(scene[who], "violations", span) - total(scene[other], "violations", span)) / Math.max(1, steps)
            );
          }),
        ),
      ),
      { id, unit: "per 100" },
    );
  const since = "from the first episode in which it may act";
  return [
    promiseAtMost(
      {
        id: "first-cost",
        what: `cost of the agent ${since}, as a multiple of the tuned rules'`,
        paper: null,
        ours: cost("agent", "rules", "first-cost"),
        claim: `at most ${FIRST_COST}×`,
      },
      FIRST_COST,
    ),
    promiseAtMost(
      {
        id: "first-misses",
        what: `missed steps in a hundred ${since} that the agent has more than the tuned rules`,
        paper: null,
        ours: misses("agent", "rules", "first-misses"),
        claim: `at most ${MARGIN}: no more`,
      },
      MARGIN,
    ),
    ...(["own", "stranger"] as const).flatMap((who) => {
      const whose = who === "own" ? "workloads that look like it" : "workloads that do not";
      return [
        shown({
          id: `prior-${who}-cost`,
          what: `cost of an agent that begins with what ${whose} needed, as a multiple of one that begins with nothing`,
          ours: cost(who, "agent", `prior-${who}-cost`),
        }),
        shown({
          id: `prior-${who}-misses`,
          what: `missed steps in a hundred that it has more`,
          ours: misses(who, "agent", `prior-${who}-misses`),
        }),
      ];
    }),
  ];
}

function pooled(pairs: readonly RatioPair[]): RatioPair {
  const sum = (of: keyof RatioPair) => pairs.reduce((all, pair) => all + pair[of], 0);
  return { numerator: sum("numerator"), denominator: sum("denominator") };
}
