/** The studies: what is promised and whether it is kept, what papers report and whether it is reproduced; one at a time. */
import { signal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect } from "preact/hooks";
import { type StudyResult, type StudyTally, tallyOf } from "../../../src/contract/index.ts";
import { Empty, Loading, Problem, Title } from "../parts/bits.tsx";
import { FigureView, StudyTables } from "../parts/study-table.tsx";
import { TabPanel, Tabs } from "../parts/tabs.tsx";
import { type Figure, loadStudies, type PublishedStudies, type PublishedStudy } from "../plane/load-studies.ts";
import { hrefOf } from "../router.ts";

type Loaded = "loading" | PublishedStudies | { readonly problem: string };

const loaded = signal<Loaded>("loading");

function load(): void {
  loadStudies(new URL("results/", document.baseURI)).then(
    (studies) => {
      loaded.value = studies;
    },
    (reason: unknown) => {
      loaded.value = { problem: reason instanceof Error ? reason.message : String(reason) };
    },
  );
}

export function StudiesView({ study }: { study: string | null }): ComponentChild {
  // Each time the view is entered: a study may have ended meanwhile. Until then the last ones are shown.
  useEffect(load, []);
  return (
    <div class="studies">
      <Title>Studies</Title>
      <p class="quiet">
        What this product promises and whether it is kept, and the papers' figures next to ours; both by our 95 %
        interval.
      </p>
      {body(loaded.value, study)}
    </div>
  );
}

const idOf = (study: PublishedStudy): string => (study.kind === "result" ? study.result.study : study.id);

function body(state: Loaded, wanted: string | null): ComponentChild {
  if (state === "loading") return <Loading what="the results" />;
  if ("problem" in state)
    return (
      <Problem
        what="The results cannot be read."
        why={state.problem}
        retry={() => {
          loaded.value = "loading";
          load();
        }}
      />
    );
  const { studies, from } = state;
  const shown = studies.find((study) => idOf(study) === wanted) ?? studies[0];
  if (shown === undefined)
    return (
      <Empty>
        No study has been published yet. <code>coxswain reproduce --all --out docs/results</code> runs them all.
      </Empty>
    );
  return (
    <>
      <Summary studies={studies} from={from} />
      <div class="tabbed">
        <Tabs
          label="Studies"
          items={studies.map((study) => ({ id: idOf(study), label: <TabLabel study={study} /> }))}
          chosen={idOf(shown)}
          choose={(id) => {
            location.hash = hrefOf({ view: "studies", study: id });
          }}
        />
        <TabPanel of={idOf(shown)}>
          {shown.kind === "result" ? (
            <Study key={shown.result.study} result={shown.result} figures={shown.figures} />
          ) : (
            <p role="alert">{capital(shown.problem)}.</p>
          )}
        </TabPanel>
      </div>
    </>
  );
}

/** `3 of 5 promises kept, 4 of 10 figures reproduced`; nothing of what there is none of. */
function counted({ promises, promisesHeld, reproductions, reproduced }: StudyTally): string {
  const parts: string[] = [];
  if (promises > 0) parts.push(`${promisesHeld} of ${promises} promises kept`);
  if (reproductions > 0) parts.push(`${reproduced} of ${reproductions} figures reproduced`);
  return parts.length === 0 ? "not judged" : parts.join(", ");
}

function TabLabel({ study }: { study: PublishedStudy }): ComponentChild {
  if (study.kind === "unreadable")
    return (
      <>
        {study.id} <span class="no">cannot be read</span>
      </>
    );
  const { title, rows, quick } = study.result;
  return (
    <>
      {title}{" "}
      <span class="quiet">
        {counted(tallyOf(rows))}
        {quick ? ", quick run" : ""}
      </span>
    </>
  );
}

function Summary({ studies, from }: PublishedStudies): ComponentChild {
  const results = studies.flatMap((study) => (study.kind === "result" ? [study.result] : []));
  const { promises, promisesHeld, reproductions, reproduced, sameDirection } = tallyOf(
    results.flatMap((result) => result.rows),
  );
  return (
    <p class="summary">
      <strong>{promisesHeld}</strong> of {promises} promises are kept; <strong>{reproduced}</strong> of {reproductions}{" "}
      published figures are reproduced, {sameDirection} in the same direction; in {results.length}{" "}
      {results.length === 1 ? "study" : "studies"}.
      {from === "built-in" ? (
        <span class="quiet"> As they were when this page was built; the control plane keeps none of its own.</span>
      ) : null}
    </p>
  );
}

function Study({ result, figures }: { result: StudyResult; figures: readonly Figure[] }): ComponentChild {
  return (
    <article id={result.study} aria-labelledby={`${result.study}-title`}>
      <h2 id={`${result.study}-title`}>{result.title}</h2>
      <p class="facts">
        <code>{result.study}</code> · {result.seeds.length} seeds · world: {result.world} ·{" "}
        {duration(result.wallSeconds)} · version {result.version}
        {result.quick ? <strong> · quick run: fewer seeds and steps than a reported one</strong> : null}
      </p>
      <StudyTables title={result.title} rows={result.rows} />
      {figures.map((figure) => (
        <FigureView key={figure.name} figure={figure} title={result.title} />
      ))}
    </article>
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function duration(seconds: number): string {
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
