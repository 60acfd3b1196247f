/** How the shared model's returns rose while it was trained. */
import { useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { EmbeddingsDocument } from "../../../src/contract/index.ts";
import { Plot, type PlotSpec } from "../parts/plot.tsx";
import { plain } from "../words/format.ts";

type Curve = NonNullable<EmbeddingsDocument["model"]>["curve"];

export function TrainingCurve({ curve }: { curve: Curve }): ComponentChild {
  const now = useSignal(curve);
  useEffect(() => {
    now.value = curve;
  }, [curve, now]);
  const spec = useMemo<PlotSpec>(
    () => ({
      label: "Mean return of the episodes played in each round of pre-training",
      height: 180,
      x: "count",
      hasXAxis: true,
      startsAtZero: false,
      lines: [{ label: "return", colour: "--ours", width: 2 }],
      say: plain,
    }),
    [],
  );
  return (
    <section class="card" aria-labelledby="training">
      <h2 id="training">How it was trained</h2>
      <p class="quiet">Mean return of the episodes played in a round, over rounds; what was tried out is in it.</p>
      <Plot
        spec={spec}
        group={null}
        data={() => [now.value.map(({ round }) => round), now.value.map((row) => row.return)]}
      />
    </section>
  );
}
