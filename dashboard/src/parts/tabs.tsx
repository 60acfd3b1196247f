/**
 * A list of tabs, of which one shows its panel: one stop in the tab order, arrows choose (ARIA's tab pattern).
 * Owns: keys and roles. Not here: what a panel shows, and where the choice is kept.
 */
import type { ComponentChild, ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

export interface TabItem {
  readonly id: string;
  readonly label: ComponentChildren;
}

interface TabsProps {
  readonly label: string;
  readonly items: readonly TabItem[];
  readonly chosen: string;
  readonly choose: (id: string) => void;
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

export function Tabs({ label, items, chosen, choose }: TabsProps): ComponentChild {
  const at = Math.max(
    items.findIndex(({ id }) => id === chosen),
    0,
  );
  const host = useRef<HTMLDivElement>(null);
  // On a phone the list runs beyond the edge; the chosen one is to be seen. Only the list moves, not the page.
  useEffect(() => {
    const list = host.current;
    const tab = list?.querySelector<HTMLElement>("[aria-selected=true]");
    if (list && tab) list.scrollLeft = tab.offsetLeft - list.offsetLeft - (list.clientWidth - tab.clientWidth) / 2;
  }, [chosen]);
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
    const step = STEPS[event.key];
    const to =
      event.key === "Home"
        ? 0
        : event.key === "End"
          ? items.length - 1
          : step === undefined
            ? null
            : (at + step + items.length) % items.length;
    const item = to === null ? undefined : items[to];
    if (item === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    choose(item.id);
    // The choice may be drawn later (it goes through the address); the next Tab must leave the list all the same.
    for (const tab of event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]")) {
      const isChosen = tab.id === `tab-${item.id}`;
      tab.tabIndex = isChosen ? 0 : -1;
      if (isChosen) tab.focus();
    }
  };
  return (
    <div ref={host} role="tablist" class="tabs" aria-label={label} aria-orientation="vertical" onKeyDown={onKeyDown}>
      {items.map((item, index) => (
        <button
          key={item.id}
          type="button"
          role="tab"
          id={`tab-${item.id}`}
          aria-selected={index === at}
          aria-controls="tab-panel"
          tabIndex={index === at ? 0 : -1}
          onClick={() => choose(item.id)}
        >
          {item.label}
        </button>
      ))}
    </div>
  );
}

export function TabPanel({ of, children }: { of: string; children: ComponentChildren }): ComponentChild {
  return (
    <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${of}`} class="tab-panel">
      {children}
    </div>
  );
}
