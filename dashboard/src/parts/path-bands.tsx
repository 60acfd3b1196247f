/**
 * Critical paths over time: a column per window, divided by which path its requests took.
 * Owns: the drawing and its legend, in which each path is said with its figures.
 */
import type { ComponentChild } from "preact";
import type { PathsDocument } from "../../../src/contract/index.ts";
import { latency, percent, shortClock } from "../words/format.ts";

const WIDTH = 720;
const HEIGHT = 130;
/** Paths that get a band of their own; the others share the last. */
const BANDS = 5;

export function PathBands({ paths }: { paths: PathsDocument }): ComponentChild {
  const { windows, windowMs } = paths;
  const last = windows.at(-1)?.from ?? 0;
  const first = windows[0]?.from ?? 0;
  const columns = Math.max(24, Math.round((last - first) / Math.max(1, windowMs)) + 1);
  const column = WIDTH / columns;
  const named = topPaths(paths);
  const all = windows.reduce((sum, { requests }) => sum + requests, 0);
  const countOf = (signature: string): number =>
    windows.reduce((sum, window) => sum + (window.paths.find((path) => path.signature === signature)?.count ?? 0), 0);
  // Bands keep their colours while shares change; who reads the list wants the largest first.
  const legend = named
    .map((signature, band) => ({ signature, band, count: countOf(signature) }))
    .sort((a, b) => b.count - a.count);
  const rest = all - legend.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      <svg
        class="path-bands"
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 18}`}
        role="img"
        aria-label={`Which critical path requests took, from ${shortClock(first)} to ${shortClock(last + windowMs)}; the list below says the shares.`}
      >
        {windows.map((window) => {
          const x = WIDTH - (Math.round((last - window.from) / Math.max(1, windowMs)) + 1) * column;
          const counts = [
            ...named.map((signature) => window.paths.find((path) => path.signature === signature)?.count ?? 0),
          ];
          const own = counts.reduce((sum, count) => sum + count, 0);
          let below = HEIGHT;
          return [...counts, window.requests - own].map((count, band) => {
            const height = window.requests === 0 ? 0 : (count / window.requests) * HEIGHT;
            below -= height;
            return height <= 0 ? null : (
              <rect
                key={`${window.from} ${named[band] ?? ""}`}
                class={`band-${band}`}
                x={x.toFixed(1)}
                y={below.toFixed(1)}
                width={Math.max(1, column - 1).toFixed(1)}
                height={height.toFixed(1)}
              />
            );
          });
        })}
        <text x={WIDTH} y={HEIGHT + 14} text-anchor="end">
          {shortClock(last + windowMs)}
        </text>
        <text x="0" y={HEIGHT + 14}>
          {shortClock(last + windowMs - columns * windowMs)}
        </text>
      </svg>
      <ol class="paths">
        {legend.map(({ signature, band, count }) => {
          const known = paths.paths.find((path) => path.signature === signature);
          return (
            <li key={signature}>
              <span class={`swatch band-${band}`} aria-hidden="true" />
              <span class="steps">
                {known === undefined
                  ? signature
                  : known.steps.map((step, k) => (
                      <span key={k} class="step">
                        {step.service} <small>{latency(step.exclusiveMs)}</small>
                      </span>
                    ))}
              </span>
              <span class="number">{percent(all === 0 ? 0 : count / all)}</span>
            </li>
          );
        })}
        {rest > 0 ? (
          <li>
            <span class={`swatch band-${named.length}`} aria-hidden="true" />
            <span class="steps">other paths</span>
            <span class="number">{percent(rest / all)}</span>
          </li>
        ) : null}
      </ol>
    </>
  );
}

/** The most frequent ones of the windows shown, in an order that stays while they do. */
function topPaths({ windows }: PathsDocument): readonly string[] {
  const counts = new Map<string, number>();
  for (const { paths } of windows)
    for (const { signature, count } of paths) counts.set(signature, (counts.get(signature) ?? 0) + count);
  return [...counts]
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, BANDS)
    .map(([signature]) => signature)
    .sort();
}
