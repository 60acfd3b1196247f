/**
 * Light or dark: the system's wish unless a person chose, and the colours of both for canvases, which know no CSS.
 * Owns: the choice and its memory.
 */
import { computed, effect, signal } from "@preact/signals";

type Choice = "system" | "light" | "dark";
const KEY = "coxswain.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(system.matches);
export const choice = signal<Choice>(remembered());

export const isDark = computed(() => (choice.value === "system" ? systemIsDark.value : choice.value === "dark"));

export function followTheme(): void {
  system.addEventListener("change", () => {
    systemIsDark.value = system.matches;
  });
  effect(() => {
    const root = document.documentElement;
    if (choice.value === "system") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", choice.value);
    colours.clear();
    void isDark.value;
  });
}

export function toggleTheme(): void {
  choice.value = isDark.value ? "light" : "dark";
  try {
    localStorage.setItem(KEY, choice.value);
  } catch {
    // Storage may be forbidden; the choice then lasts as long as the page.
  }
}

function remembered(): Choice {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : "system";
  } catch {
    return "system";
  }
}

const colours = new Map<string, string>();

/** A CSS variable as a colour of the theme that holds now. */
export function colour(name: `--${string}`): string {
  const known = colours.get(name);
  if (known !== undefined) return known;
  // Only a used colour resolves light-dark(); a variable read back is still the expression.
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  colours.set(name, value);
  return value;
}
