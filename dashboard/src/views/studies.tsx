/** The studies: what the papers report, what we measured, the claim, and whether it holds. */
import { signal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect } from "preact/hooks";
import type { MeasuredInterval, PublishedRange, StudyResult, StudyResultRow } from "../../../src/server/contract.ts";
import { Empty, Loading, Problem, Title } from "../parts/bits.tsx";
import { loadStudies, type PublishedStudy } from "../plane/load-studies.ts";
import { hrefOf } from "../router.ts";

type Loaded = "loading" | readonly PublishedStudy[] | { readonly problem: string };

const loaded = signal<Loaded>("loading");
let isAsked = false;

function load(): void {
  isAsked = true;
  loaded.value = "loading";
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
  const studies = loaded.value;
  useEffect(() => {
    if (!isAsked) load();
  }, []);
  useEffect(() => {
    if (study !== null) document.getElementById(study)?.scrollIntoView();
  }, [study, studies]);
  return (
    <div class="studies">
      <Title>Studies</Title>
      <p class="quiet">The papers' figures next to ours, each with its claim and whether our interval clears it.</p>
      {body(studies)}
    </div>
  );
}

function body(studies: Loaded): ComponentChild {
  if (studies === "loading") return <Loading what="the results" />;
  if ("problem" in studies)
    return <Problem what="The results can not be read." why={`${studies.problem}.`} retry={load} />;
  if (studies.length === 0)
    return (
      <Empty>
        No study has been published yet. <code>coxswain reproduce --all --out docs/results</code> runs them all.
      </Empty>
    );
  const results = studies.flatMap((study) => (study.kind === "result" ? [study.result] : []));
  return (
    <>
      <Summary results={results} />
      {studies.map((study) =>
        study.kind === "result" ? (
          <Study key={study.result.study} result={study.result} figures={study.figures} />
        ) : (
          <p role="alert" key={study.file}>
            {study.file} does not keep to the contract: {study.problem}.
          </p>
        ),
      )}
    </>
  );
}

function Summary({ results }: { results: readonly StudyResult[] }): ComponentChild {
  const rows = results.flatMap((result) => result.rows);
  const holding = rows.filter((row) => row.holds).length;
  return (
    <nav aria-label="Studies" class="summary">
      <p>
        <strong>{holding}</strong> of {rows.length} claims hold, in {results.length}{" "}
        {results.length === 1 ? "study" : "studies"}.
      </p>
      <ul>
        {results.map((result) => (
          <li key={result.study}>
            <a href={hrefOf({ view: "studies", study: result.study })}>{result.title}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Study({ result, figures }: { result: StudyResult; figures: readonly string[] }): ComponentChild {
  return (
    <article id={result.study} aria-labelledby={`${result.study}-title`}>
      <h2 id={`${result.study}-title`}>{result.title}</h2>
      <p class="facts">
        <code>{result.study}</code> · {result.seeds.length} seeds · world: {result.world} ·{" "}
        {duration(result.wallSeconds)} · version {result.version}
        {result.quick ? <strong> · quick run: fewer seeds and steps than a reported one</strong> : null}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll" aria-label={`Table of ${result.title}`} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Paper</th>
              <th scope="col">Ours (95 % interval)</th>
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
      {figures.map((address) => (
        <figure key={address}>
          <img src={address} alt={`Plot of ${result.title}; its figures are in the table above`} loading="lazy" />
        </figure>
      ))}
    </article>
  );
}

function Row({ row }: { row: StudyResultRow }): ComponentChild {
  return (
    <tr>
      <th scope="row">{row.what}</th>
      <td class="number">{row.paper === null ? <span class="quiet">none</span> : <Paper paper={row.paper} />}</td>
      <td class="number">
        <Ours ours={row.ours} />
      </td>
      <td>{row.claim}</td>
      <td>
        <span class={row.holds ? "verdict yes" : "verdict no"}>{row.holds ? "✓ yes" : "✗ no"}</span>
      </td>
    </tr>
  );
}

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

const FORMAT = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const number = (value: number): string => FORMAT.format(value).replace("-", "−");

function duration(seconds: number): string {
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
