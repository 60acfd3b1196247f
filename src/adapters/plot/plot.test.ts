import { parseHTML } from "linkedom";
import { expect, test } from "vitest";
import type { BarFigure, LineFigure } from "./figure.ts";
import { figureToPng } from "./png.ts";
import { figureToSvg } from "./svg.ts";

const x = [0, 10_000, 20_000, 30_000];
const lines: LineFigure = {
  kind: "lines",
  id: "return",
  title: "Return while learning",
  subtitle: "ten seeds",
  x: { label: "environment steps" },
  y: { label: "episode return", unit: "points", domain: [0, 500] },
  lines: [
    { name: "PPO", x, y: [20, 200, 400, 490], lo: [10, 150, 350, 470], hi: [30, 250, 450, 500] },
    { name: "DQN", x, y: [20, 100, 250, 480] },
  ],
  references: [{ label: "published: 475", low: 475 }],
};
const bars: BarFigure = {
  kind: "bars",
  id: "violations",
  title: "Violations",
  y: { label: "share", unit: "%" },
  bars: [
    { label: "light", group: "ours", value: 3, lo: 2, hi: 4, paper: { low: 2.9, high: 3.4 } },
    { label: "heavy", group: "ours", value: 6, lo: 5, hi: 7 },
    { label: "light", group: "theirs", value: 9, lo: 8, hi: 10 },
    { label: "heavy", group: "theirs", value: 12, lo: 11, hi: 13 },
  ],
};

const textsOf = (svg: string) =>
  [...parseHTML(svg).document.querySelectorAll("text, tspan")].map((element) => element.textContent.trim());

test("a line figure says everything in words: title, axes with units, names, levels, ticks", async () => {
  const texts = textsOf(await figureToSvg(lines));
  for (const wanted of ["Return while learning", "ten seeds", "environment steps", "episode return (points)"]) {
    expect(texts).toContain(wanted);
  }
  expect(texts).toEqual(expect.arrayContaining(["PPO", "DQN", "published: 475", "5k", "30k", "500"]));
});

test("each line is drawn once and only lines with an interval get a band", async () => {
  const { document } = parseHTML(await figureToSvg(lines));
  expect(document.querySelectorAll('[aria-label="line"] path')).toHaveLength(2);
  expect(document.querySelectorAll('[aria-label="area"] path')).toHaveLength(1);
});

test("places of a map are drawn one by one, in a shape of their own for each name, and no line joins them", async () => {
  const map: LineFigure = {
    ...lines,
    lines: [
      { name: "memory", marks: "points", x: [0, 1, 2], y: [3, 4, 5] },
      { name: "io", marks: "points", x: [1], y: [1] },
    ],
  };
  const { document } = parseHTML(await figureToSvg(map));
  const marks = [...document.querySelectorAll('[aria-label="dot"] circle, [aria-label="dot"] path')];
  expect(marks).toHaveLength(4);
  expect(new Set(marks.map((mark) => mark.getAttribute("d"))).size).toBe(2);
  expect(document.querySelectorAll('[aria-label="line"] path')).toHaveLength(0);
});

test("a bar figure draws a bar per value, a whisker per interval and diamonds for the paper's range", async () => {
  const { document } = parseHTML(await figureToSvg(bars));
  expect(document.querySelectorAll('[aria-label="bar"] rect')).toHaveLength(4);
  expect(document.querySelectorAll('[aria-label="tick"] line')).toHaveLength(8);
  expect(document.querySelectorAll('[aria-label="dot"] path')).toHaveLength(2);
  expect(textsOf(await figureToSvg(bars))).toEqual(
    expect.arrayContaining(["ours", "theirs", "light", "heavy", "share (%)"]),
  );
});

test("names that are wider than their place are broken between words", async () => {
  const [short, long] = ["AIMD", "Kubernetes autoscaling at eighty percent of what was asked for"];
  const wide = { ...bars, bars: [short, long, "a", "b", "c"].map((label) => ({ label, value: 1 })) };
  const { document } = parseHTML(await figureToSvg(wide));
  const names = [...document.querySelectorAll('[aria-label="x-axis tick label"] text')];
  const broken = names.filter((name) => name.querySelectorAll("tspan").length > 1);
  expect(names).toHaveLength(5);
  expect(broken.map((name) => name.textContent.replaceAll(/\s+/g, " "))).toEqual([
    expect.stringContaining("Kubernetes"),
  ]);
});

test.each([
  ["grouped", bars],
  ["one by one", { ...bars, bars: bars.bars.filter((bar) => bar.group === "ours") }],
] as const)("whiskers have caps of a dozen pixels, bars %s", async (_name, figure) => {
  const { document } = parseHTML(await figureToSvg(figure));
  const caps = [...document.querySelectorAll('[aria-label="tick"] line')];
  expect(caps.length).toBeGreaterThan(0);
  for (const cap of caps) {
    const width = Number(cap.getAttribute("x2")) - Number(cap.getAttribute("x1"));
    expect(width).toBeGreaterThan(9);
    expect(width).toBeLessThan(15);
  }
});

test("a subtitle that is wider than the picture goes on in another line, between words", async () => {
  const words = Array.from({ length: 30 }, (_, i) => `word${i}`);
  const svg = await figureToSvg({ ...lines, subtitle: words.join(" ") });
  const texts = [...svg.matchAll(/<text[^>]*fill="#555555"[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text ?? "");
  const own = texts.filter((text) => text.startsWith("word"));
  // 680 px at 6.1 px a letter are 111 letters; 30 words of 5 or 6 letters with blanks between them are 199.
  expect(own).toHaveLength(2);
  expect(own.every((text) => text.length <= 111)).toBe(true);
  expect(own.join(" ")).toBe(words.join(" "));
});

test("text from a study cannot break out of the markup", async () => {
  const svg = await figureToSvg({ ...lines, title: "<script>alert(1)</script> & co" });
  expect(svg).not.toContain("<script>");
  expect(textsOf(svg)).toContain("<script>alert(1)</script> & co");
});

test("the same figure gives the same bytes", async () => {
  expect(await figureToSvg(lines)).toBe(await figureToSvg(lines));
});

test("the PNG has twice the SVG's size", async () => {
  const png = Buffer.from(await figureToPng(await figureToSvg(lines)));
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  expect(png.readUInt32BE(16)).toBe(2 * 720);
});

test("letters are really drawn, from the shipped typeface and nothing of the machine", async () => {
  // Without a font the renderer leaves text out, and both pictures would be the same empty sheet.
  const picture = (word: string) =>
    figureToPng(
      `<svg xmlns="http://www.w3.org/2000/svg" width="80" height="20" font-family="Lato"><text x="2" y="15">${word}</text></svg>`,
    );
  const [a, b, empty] = await Promise.all([picture("reward"), picture("latency"), picture("")]);
  expect(Buffer.compare(a, empty)).not.toBe(0);
  expect(Buffer.compare(a, b)).not.toBe(0);
});

test("two levels at one height keep a name each, in the colour of the line they belong to", async () => {
  const references = [
    { label: "PPO, published", low: 490, high: 500, of: "PPO" },
    { label: "DQN, published", low: 488, high: 500, of: "DQN" },
  ];
  const { document } = parseHTML(await figureToSvg({ ...lines, references }));
  const entries = [...document.querySelectorAll("text")].filter((text) => text.textContent.endsWith(", published"));
  const places = entries.map((text) => `${text.getAttribute("x")},${text.getAttribute("y")}`);
  expect(new Set(places).size).toBe(2);
  const lineColours = [...document.querySelectorAll('[aria-label="line"] g')].map((line) =>
    line.getAttribute("stroke"),
  );
  const bandColours = [...document.querySelectorAll('[aria-label="rect"]')].map((band) => band.getAttribute("fill"));
  expect(bandColours).toEqual(lineColours);
});
