/** The files that speak of metrics (guide, Grafana dashboard, alerts) against the metrics there are. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { catalog, PlaneMetrics } from "../../src/adapters/observability/index.ts";
import { readPage } from "../fixtures/observability/page.ts";

const file = (...path: string[]) => readFileSync(join(import.meta.dirname, "..", "..", ...path), "utf8");

interface Target {
  readonly refId: string;
  readonly expr: string;
}
interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly targets?: readonly Target[];
}
const dashboard = JSON.parse(file("deploy", "grafana", "coxswain.json")) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
};
const alerts = parse(file("deploy", "prometheus", "alerts.yml")) as {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly labels: { readonly severity: string };
      readonly annotations: { readonly summary: string; readonly description: string };
    }[];
  }[];
};
const rules = alerts.groups.flatMap((group) => group.rules);
const expressions = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [`panel ${title}`, expr] as const),
  ),
  ...rules.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
];

const WORDS = new Set(["sum", "rate", "increase", "histogram_quantile", "by", "on", "up", "label_values"]);
const TOKEN = /\s+|[a-zA-Z_:][\w:]*|\$\w+|"[^"]*"|\d+(?:\.\d+)?[smhd]?|=~|!=|==|[-+*/()<>{}[\],=]/y;

/** Cuts an expression into tokens; fails where something is none, or where brackets do not close in order. */
function tokensOf(expression: string): string[] {
  const tokens: string[] = [];
  const open: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < expression.length) {
    const at = TOKEN.lastIndex;
    const token = TOKEN.exec(expression)?.[0];
    if (token === undefined) throw new Error(`'${expression.slice(at)}' does not begin with a token`);
    if ("([{".includes(token)) open.push(token);
    const partner = { ")": "(", "]": "[", "}": "{" }[token];
    if (partner !== undefined && open.pop() !== partner) throw new Error(`${token} closes nothing in ${expression}`);
    if (token.trim() !== "") tokens.push(token);
  }
  if (open.length > 0) throw new Error(`${open.join()} is not closed in ${expression}`);
  return tokens;
}

const page = readPage(await new PlaneMetrics().text());
const labelsOf = new Map<string, readonly string[]>(Object.values(catalog).map(({ name, labels }) => [name, labels]));
const typeOf = (name: string) => page.types.get(name) ?? page.types.get(name.replace(/_(?:bucket|sum|count)$/, ""));

/** Metrics of an expression, each with the labels that its selector asks for. */
function metricsIn(expression: string) {
  const tokens = tokensOf(expression);
  return tokens.flatMap((token, i) => {
    if (!/^[a-z]\w*$/.test(token) || WORDS.has(token) || !token.includes("_")) return [];
    if (tokens[i + 1] !== "{") return [{ name: token, asked: [] as string[] }];
    const inside = tokens.slice(i + 2, tokens.indexOf("}", i));
    return [
      { name: token, asked: inside.filter((word, j) => /^[a-z]+$/.test(word) && /[=!]/.test(inside[j + 1] ?? "")) },
    ];
  });
}

describe("every expression", () => {
  test.each(expressions)("of %s uses metrics that exist, with labels that they have", (_, expression) => {
    const used = metricsIn(expression);
    expect(used.length > 0 || expression.startsWith("up{")).toBe(true);
    for (const { name, asked } of used) {
      expect([name, typeOf(name)]).not.toEqual([name, undefined]);
      const labels = labelsOf.get(name);
      if (labels !== undefined) expect(labels).toEqual(expect.arrayContaining(asked));
    }
    const grouped = [...expression.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, names]) => names!.split(/,\s*/));
    const known = used.flatMap(({ name }) => labelsOf.get(name) ?? ["le"]);
    for (const label of grouped) expect(known).toContain(label);
  });

  test.each(expressions)("of %s takes rates of what grows, and of nothing else", (_, expression) => {
    for (const [, name] of expression.matchAll(/\b(?:rate|increase)\((\w+)/g))
      expect([name, typeOf(name!)]).toEqual([name, name!.endsWith("_bucket") ? "histogram" : "counter"]);
  });

  test("of one that is misspelt would be noticed", () => {
    expect(() => tokensOf("sum(rate(coxswain_decisions_total[5m])")).toThrow("not closed");
    expect(() => tokensOf("sum(coxswain_decisions_total;)")).toThrow("begin with a token");
    expect(metricsIn('coxswain_decided_total{whom="x"}')).toEqual([
      { name: "coxswain_decided_total", asked: ["whom"] },
    ]);
    expect(typeOf("coxswain_decided_total")).toBeUndefined();
  });
});

describe("the dashboard", () => {
  test("uses every metric of the catalog somewhere", () => {
    const used = new Set(expressions.flatMap(([, expression]) => metricsIn(expression).map(({ name }) => name)));
    const missing = Object.values(catalog).filter(({ name }) => !used.has(name) && !used.has(`${name}_bucket`));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  test("has panels with ids of their own, within the grid and not on top of one another", () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const taken = new Set<string>();
    for (const { title, gridPos } of panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect([title, taken.has(`${x},${y}`)]).toEqual([title, false]);
          taken.add(`${x},${y}`);
        }
      }
    }
  });

  test("asks for the workloads that there are", () => {
    const { definition = "" } = dashboard.templating.list.find(({ name }) => name === "workload") ?? {};
    expect(metricsIn(definition)).toEqual([{ name: catalog.steps.name, asked: [] }]);
  });
});

test("every alert has a severity, a summary and a way on", () => {
  for (const { alert, labels, annotations } of rules) {
    expect(alert).toMatch(/^Coxswain[A-Z]\w+$/);
    expect(["warning", "critical"]).toContain(labels.severity);
    expect(annotations.summary).not.toBe("");
    expect(annotations.description).not.toBe("");
  }
});

test("the guide has one row for every metric, in the catalog's words", () => {
  const rows = file("docs", "guide", "observing.md")
    .split("\n")
    .filter((line) => line.startsWith("| `coxswain_"));
  const expected = Object.values(catalog).map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help} |`,
  );
  expect(rows).toEqual(expected);
});
