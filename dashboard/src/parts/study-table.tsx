/**
 * Rows of a study as a table, and its figures: the paper's value beside ours, the claim, and whether it holds.
 * Not here: which study is shown, and what stands around it (views).
 */
import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { MeasuredInterval, PublishedRange, StudyResultRow } from "../../../src/server/contract.ts";
import type { Figure } from "../plane/load-studies.ts";
import { IntervalPlot } from "./interval-plot.tsx";

export function StudyTable({ title, rows }: { title: string; rows: readonly StudyResultRow[] }): ComponentChild {
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll" aria-label={`Table of ${title}`} tabIndex={0}>
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
            {rows.map((row) => (
              <Row key={row.id} row={row} />
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
        {row.holds === null ? null : (
          <span class={row.holds ? "verdict yes" : "verdict no"}>{row.holds ? "✓ yes" : "✗ no"}</span>
        )}
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

const FORMAT = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const number = (value: number): string => FORMAT.format(value).replace("-", "−");
