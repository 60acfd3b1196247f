/** Adapting to workloads that were never seen, next to transfer learning: the study's curves and its verdicts. */
import { signal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect } from "preact/hooks";
import { FigureView, StudyTables } from "../parts/study-table.tsx";
import { loadStudies, type PublishedStudy } from "../plane/load-studies.ts";
import { hrefOf } from "../router.ts";

const STUDY = "aware-adaptation";
/** The reward of each episode, by method. */
const CURVES = `${STUDY}-reward.svg`;
/** How many times faster, against each kind of transfer; the rest is on the study's own page. */
const ROWS = 4;

const found = signal<"loading" | PublishedStudy | null>("loading");

function load(): void {
  loadStudies(new URL("results/", document.baseURI)).then(
    ({ studies }) => {
      found.value =
        studies.find((study) => (study.kind === "result" ? study.result.study : study.id) === STUDY) ?? null;
    },
    () => {
      if (found.value === "loading") found.value = null;
    },
  );
}

export function AdaptationRun(): ComponentChild {
  useEffect(load, []);
  const study = found.value;
  if (study === "loading") return null;
  return (
    <section class="card studies" aria-labelledby="adaptation">
      <h2 id="adaptation">Adapting to a workload that was never seen</h2>
      {study === null ? (
        <p class="quiet">
          No adaptation run has been published yet. <code>coxswain reproduce {STUDY} --out docs/results</code> plays one
          next to transfer learning, under the same requests.
        </p>
      ) : study.kind === "unreadable" ? (
        <p role="alert">{study.problem}.</p>
      ) : (
        <>
          <p class="quiet">
            Reward of each episode on unseen workloads: with the shared model (AWARE), with the weights of one trained
            policy (TL), and with more features (TL+).{" "}
            <a href={hrefOf({ view: "studies", study: STUDY })}>The whole study</a>
          </p>
          {study.figures
            .filter(({ name }) => name === CURVES)
            .map((figure) => (
              <FigureView key={figure.name} figure={figure} title={study.result.title} />
            ))}
          <StudyTables title={study.result.title} rows={study.result.rows.slice(0, ROWS)} />
        </>
      )}
    </section>
  );
}
