/**
 * One place in the tab order for a whole widget, arrows within it: the roving focus of ARIA's grids and tab lists.
 * Owns: which element has tabindex 0, and where a key leads. Rows are elements with `data-row`, what can be focused in
 * them has `data-stop`.
 */
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

export type Place = { readonly row: number; readonly column: number };

/** Where a key leads in a grid whose rows have so many stops; null where it leads nowhere. */
export function placeAfter(key: string, from: Place, widths: readonly number[]): Place | null {
  const clamp = (row: number, column: number): Place => {
    const to = Math.min(Math.max(row, 0), widths.length - 1);
    return { row: to, column: Math.min(Math.max(column, 0), (widths[to] ?? 1) - 1) };
  };
  switch (key) {
    case "ArrowDown":
      return clamp(from.row + 1, from.column);
    case "ArrowUp":
      return clamp(from.row - 1, from.column);
    case "ArrowRight":
      return clamp(from.row, from.column + 1);
    case "ArrowLeft":
      return clamp(from.row, from.column - 1);
    case "Home":
      return clamp(0, from.column);
    case "End":
      return clamp(widths.length - 1, from.column);
    default:
      return null;
  }
}

/** `changes`: what lets rows come, go or move; after it exactly one stop is in the tab order again. */
export function useRoving(host: RefObject<HTMLElement | null>, changes: unknown): void {
  useEffect(() => {
    const grid = host.current;
    if (grid === null) return;
    const stops = (): HTMLElement[][] =>
      [...grid.querySelectorAll<HTMLElement>("[data-row]")].map((row) => [
        ...row.querySelectorAll<HTMLElement>("[data-stop]"),
      ]);
    const settle = (chosen: HTMLElement | undefined): void => {
      for (const stop of stops().flat()) stop.tabIndex = stop === chosen ? 0 : -1;
    };
    const all = stops().flat();
    settle(
      all.find((stop) => stop === document.activeElement) ??
        all.find((stop) => stop.tabIndex === 0 && stop.hasAttribute("tabindex")) ??
        all[0],
    );

    const onKey = (event: KeyboardEvent): void => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const rows = stops();
      const row = rows.findIndex((line) => line.some((stop) => stop === event.target));
      if (row === -1) return;
      const column = rows[row]?.indexOf(event.target as HTMLElement) ?? 0;
      const place = placeAfter(
        event.key,
        { row, column },
        rows.map((line) => line.length),
      );
      if (place === null) return;
      event.preventDefault();
      rows[place.row]?.[place.column]?.focus();
    };
    const onFocus = (event: FocusEvent): void => {
      const target = event.target as HTMLElement;
      if (target.hasAttribute("data-stop")) settle(target);
    };
    grid.addEventListener("keydown", onKey);
    grid.addEventListener("focusin", onFocus);
    return () => {
      grid.removeEventListener("keydown", onKey);
      grid.removeEventListener("focusin", onFocus);
    };
  }, [host, changes]);
}
