/**
 * Rows of a study as tables, promises, reproductions and what is only shown apart, and its figures.
 * Not here: which study is shown, and what stands around it (views).
 */
import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { MeasuredInterval, Outcome, PublishedRange, StudyResultRow } from "../../../src/contract/index.ts";
import type { Figure } from "../plane/load-studies.ts";
import { IntervalPlot } from "./interval-plot.tsx";

interface RowKind {
  readonly kind: StudyResultRow["kind"];
  readonly title: string;
  readonly about: string;
  readonly claim: string;
  readonly verdict: string;
}

const kinds: readonly RowKind[] = [
  {
    kind: "promise",
    title: "Promises",
    about: "What this product promises: kept where the near end of our interval clears the number.",
    claim: "Promised",
    verdict: "Kept",
  },
  {
    kind: "reproduction",
    title: "Reproductions",
    about:
      "The paper's figures: reproduced where our interval shows the effect and reaches the figure, in the same direction where it shows the effect and falls short.",
    claim: "To reach",
    verdict: "Outcome",
  },
  {
    kind: "shown",
    title: "Shown, not judged",
    about: "What describes opponents, checks the study itself, or is a weakness that ours may lack.",
    claim: "Why",
    verdict: "",
  },
];

export function StudyTables({ title, rows }: { title: string; rows: readonly StudyResultRow[] }): ComponentChild {
  return (
    <>
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
      {kinds.map((kind) => {
        const own = rows.filter((row) => row.kind === kind.kind);
        return own.length === 0 ? null : <KindTable key={kind.kind} title={title} kind={kind} rows={own} />;
      })}
    </>
  );
}

interface KindTableProps {
  readonly title: string;
  readonly kind: RowKind;
  readonly rows: readonly StudyResultRow[];
}

function KindTable({ title, kind, rows }: KindTableProps): ComponentChild {
  return (
    <>
      <h3>{kind.title}</h3>
      <p class="quiet">{kind.about}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll" aria-label={`${kind.title} of ${title}`} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Paper</th>
              <th scope="col">Ours (95 % interval)</th>
              <td />
              <th scope="col">{kind.claim}</th>
              {kind.verdict === "" ? <td /> : <th scope="col">{kind.verdict}</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={row.id} row={row} label={kind.claim} />
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

export function FigureView({ figure, title }: { figure: Figure; title: string }): ComponentChild {
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
  if (source === null) return <p class="quiet">The plot {figure.name} cannot be read.</p>;
  return (
    <figure>
      {source === "" ? null : <img src={source} alt={`Plot of ${title}; its figures are in the table`} />}
    </figure>
  );
}

function Row({ row, label }: { row: StudyResultRow; label: string }): ComponentChild {
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
        <Label>{label}</Label>
        {row.kind === "shown" ? row.claim.replace(/^shown, not judged(: )?/, "") : row.claim}
      </td>
      <td class="holds">
        <Verdict row={row} />
      </td>
    </tr>
  );
}

const outcomes: { readonly [outcome in Outcome]: { readonly text: string; readonly style: string } } = {
  reproduced: { text: "✓ reproduced", style: "yes" },
  "same-direction": { text: "≈ same direction", style: "quiet" },
  not: { text: "✗ not", style: "no" },
};

function Verdict({ row }: { row: StudyResultRow }): ComponentChild {
  if (row.kind === "shown") return null;
  const { text, style } =
    row.kind === "reproduction"
      ? outcomes[row.outcome]
      : row.holds
        ? { text: "✓ yes", style: "yes" }
        : { text: "✗ no", style: "no" };
  return <span class={`verdict ${style}`}>{text}</span>;
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

const FORMAT = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const number = (value: number): string => FORMAT.format(value).replace("-", "−");
