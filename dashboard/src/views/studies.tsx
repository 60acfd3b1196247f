/** The studies: what the papers report, what we measured, the claim, and whether it holds; one study at a time. */
import { signal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { MeasuredInterval, PublishedRange, StudyResult, StudyResultRow } from "../../../src/server/contract.ts";
import { Empty, Loading, Problem, Title } from "../parts/bits.tsx";
import { IntervalPlot } from "../parts/interval-plot.tsx";
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
      <p class="quiet">The papers' figures next to ours, each with its claim and whether our interval clears it.</p>
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
        what="The results can not be read."
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

const held = (rows: readonly StudyResultRow[]): number => rows.filter((row) => row.holds).length;

function TabLabel({ study }: { study: PublishedStudy }): ComponentChild {
  if (study.kind === "unreadable")
    return (
      <>
        {study.id} <span class="no">can not be read</span>
      </>
    );
  const { title, rows, quick } = study.result;
  return (
    <>
      {title}{" "}
      <span class="quiet">
        {held(rows)} of {rows.length} hold{quick ? ", quick run" : ""}
      </span>
    </>
  );
}

function Summary({ studies, from }: PublishedStudies): ComponentChild {
  const results = studies.flatMap((study) => (study.kind === "result" ? [study.result] : []));
  const rows = results.flatMap((result) => result.rows);
  return (
    <p class="summary">
      <strong>{held(rows)}</strong> of {rows.length} claims hold, in {results.length}{" "}
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
      <p class="legend quiet">
        <span>
          <span class="key interval" aria-hidden="true" /> ours, 95 % interval and mean
        </span>{" "}
        <span>
          <span class="paper-mark" aria-hidden="true">
            ◆
          </span>{" "}
          the paper's value
        </span>{" "}
        <span>each row on its own scale, a tick at zero</span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll" aria-label={`Table of ${result.title}`} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Paper</th>
              <th scope="col">Ours (95 % interval)</th>
              <td />
              <th scope="col">Claim</th>
              <th scope="col">Holds</th>
            </tr>
          </thead>
          <tbody>
            {result.rows.map((row) => (
              <Row key={row.id} row={row} />
            ))}
          </tbody>
        </table>
      </section>
      {figures.map((figure) => (
        <FigureView key={figure.name} figure={figure} title={result.title} />
      ))}
    </article>
  );
}

function FigureView({ figure, title }: { figure: Figure; title: string }): ComponentChild {
  const [source, setSource] = useState<string | null>("");
  useEffect(() => {
    let isGone = false;
    figure.read().then(
      (svg) => {
        if (!isGone) setSource(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`);
      },
      () => {
        if (!isGone) setSource(null);
      },
    );
    return () => {
      isGone = true;
    };
  }, [figure]);
  if (source === null) return <p class="quiet">The plot {figure.name} can not be read.</p>;
  return (
    <figure>
      {source === "" ? null : <img src={source} alt={`Plot of ${title}; its figures are in the table`} />}
    </figure>
  );
}

function Row({ row }: { row: StudyResultRow }): ComponentChild {
  return (
    <tr>
      <th scope="row">{row.what}</th>
      <td class="number">
        <Label>Paper</Label>
        {row.paper === null ? <span class="quiet">none</span> : <Paper paper={row.paper} />}
      </td>
      <td class="number">
        <Label>Ours</Label>
        <Ours ours={row.ours} />
      </td>
      <td class="range">
        <IntervalPlot ours={row.ours} paper={row.paper} />
      </td>
      <td class="claim">
        <Label>Claim</Label>
        {row.claim}
      </td>
      <td class="holds">
        <span class={row.holds ? "verdict yes" : "verdict no"}>{row.holds ? "✓ yes" : "✗ no"}</span>
      </td>
    </tr>
  );
}

/** What the column's head says, for a screen that is too narrow for columns. */
const Label = ({ children }: { children: string }): ComponentChild => (
  <span class="narrow-label" aria-hidden="true">
    {children}
  </span>
);

function Paper({ paper }: { paper: PublishedRange }): ComponentChild {
  const range = paper.low === paper.high ? number(paper.low) : `${number(paper.low)} – ${number(paper.high)}`;
  return (
    <>
      {range} {paper.unit}
      <small>{paper.where}</small>
    </>
  );
}

function Ours({ ours }: { ours: MeasuredInterval }): ComponentChild {
  return (
    <>
      <strong>{number(ours.mean)}</strong> {ours.unit}
      <small>
        {number(ours.lo)} to {number(ours.hi)}, n = {ours.n}
      </small>
    </>
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const FORMAT = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const number = (value: number): string => FORMAT.format(value).replace("-", "−");

function duration(seconds: number): string {
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
