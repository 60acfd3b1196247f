/** Whether an element is on the screen: what nobody sees is not drawn. */
import { type Signal, signal } from "@preact/signals";

const seen = new WeakMap<Element, Signal<boolean>>();
const observer = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const flag = seen.get(entry.target);
      if (flag !== undefined) flag.value = entry.isIntersecting;
    }
  },
  { rootMargin: "80px" },
);

export function watchVisible(element: Element): { readonly isVisible: Signal<boolean>; stop(): void } {
  const isVisible = signal(false);
  seen.set(element, isVisible);
  observer.observe(element);
  return { isVisible, stop: () => observer.unobserve(element) };
}
