/**
 * A grid of rows that the style lays out as it likes, and that arrows walk through: one stop in the tab order.
 * Its roles are explicit because a <table> whose rows are laid out as cards is no table to a browser any more.
 * Owns: roles and keys. What can be focused in a cell has `data-stop`.
 */
import { type ComponentChild, type ComponentChildren, createElement } from "preact";
import { useRef } from "preact/hooks";
import { useRoving } from "./roving.ts";

interface GridProps {
  readonly label: string;
  readonly heads: readonly string[];
  /** What lets rows come, go or move. */
  readonly order: string;
  readonly children: ComponentChildren;
}

export function Grid({ label, heads, order, children }: GridProps): ComponentChild {
  const host = useRef<HTMLElement>(null);
  useRoving(host, order);
  return createElement(
    "div",
    { ref: host, role: "grid", "aria-label": label, class: "rows" },
    createElement(
      "div",
      { role: "row", class: "row-heads" },
      heads.map((head) => createElement("span", { key: head, role: "columnheader" }, head)),
    ),
    children,
  );
}

interface PartProps {
  readonly class: string;
  readonly children: ComponentChildren;
}

export const GridRow = ({ class: name, children }: PartProps): ComponentChild =>
  createElement("div", { role: "row", "data-row": "", class: `row ${name}` }, children);

export const GridCell = ({ class: name, children }: PartProps): ComponentChild =>
  createElement("div", { role: "gridcell", class: name }, children);
