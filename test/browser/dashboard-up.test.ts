/**
 * The dashboard on a real `coxswain up`: what a newcomer sees, what an operator does, and what survives a crash.
 * The tests share one process and follow one another as a person's session does.
 * Not here: what reality does not show on demand, such as fifty workloads or two who press at once (dashboard-live.test.ts).
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import { reasonWords } from "../../dashboard/src/words/reasons.ts";
import type { AgentDocument, DecisionDocument, OverviewDocument, Page as Portion } from "../../src/contract/index.ts";
import { takeoverReasons } from "../../src/control/lifecycle/index.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { openBrowser } from "./browser.ts";
import { picture, visit } from "./dashboard-page.ts";
import { type RunningUp, startUp } from "./real-up.ts";

const data = temporaryFolder("up-data");
let browser: Browser;
let up: RunningUp;

beforeAll(async () => {
  [browser, up] = await Promise.all([openBrowser(), startUp({ installed: inject("installed"), data })]);
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});
afterAll(async () => {
  await browser?.close();
  await up?.stop();
});

const SLOWLY = { timeout: 60_000, interval: 100 };

async function read<T>(path: string): Promise<T> {
  return (await (await fetch(new URL(path, up.url))).json()) as T;
}

const agents = async (): Promise<readonly AgentDocument[]> => (await read<Portion<AgentDocument>>("/v1/agents")).items;

const PRESS = { timeout: 15_000 };

async function confirm(page: Page, verb: string): Promise<void> {
  await page.getByRole("button", { name: `${verb}…` }).click(PRESS);
  await page.getByRole("dialog").getByRole("button", { name: verb, exact: true }).click(PRESS);
}

/**
 * Agents move on by themselves, on a fast machine several times a second: who presses just then is told so, has done
 * nothing, and tries again.
 */
async function untilDone<T>(attempt: () => Promise<T>): Promise<T> {
  for (let triesLeft = 4; ; triesLeft -= 1) {
    try {
      return await attempt();
    } catch (reason) {
      if (triesLeft === 0) throw reason;
    }
  }
}

/** Kinds of the commands in the audit log so far. */
function audited(): readonly (string | undefined)[] {
  const file = join(data, "audit.jsonl");
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  return lines.map((line) => (JSON.parse(line) as { command: { kind: string } | null }).command?.kind);
}

const newestChange = (page: Page): Promise<string> => page.locator(".timeline > li").first().innerText();

const stageOf = (page: Page): Promise<string> => page.locator(".stage-steps.large [aria-current=step]").innerText();

/** One that has come to the end has nothing to be promoted to. */
async function sendBack(page: Page): Promise<void> {
  await confirm(page, "Roll back");
  await expect.poll(() => stageOf(page), PRESS).toBe("Offline");
}

test("the first visit shows four workloads beside their twins, and asks nobody else for anything", async () => {
  const { page, complaints, hosts } = await visit(browser, up.url);
  await page.waitForSelector(".rows .row");
  expect(await page.locator(".rows .row").count()).toBe(4);
  await expect.poll(() => page.locator(".totals .twin-value").allInnerTexts(), SLOWLY).not.toContain("twin –");
  await expect
    .poll(() => page.locator(".sparkline .ours").first().getAttribute("d"), SLOWLY)
    .toMatch(/^M[\d.]+ [\d.]+L/);
  expect(complaints).toEqual([]);
  expect([...hosts]).toEqual(["127.0.0.1"]);
});

test("what is measured arrives by itself: the clock goes on, numbers and lines move", async () => {
  const { page } = await visit(browser, up.url);
  await page.waitForSelector(".rows .row");
  const look = async () => ({
    clock: await page.locator(".world").innerText(),
    cost: await page.locator(".totals .value").last().innerText(),
    line: await page.locator(".sparkline .ours").first().getAttribute("d"),
  });
  const before = await look();
  for (const what of ["clock", "cost", "line"] as const)
    await expect.poll(async () => (await look())[what], SLOWLY).not.toBe(before[what]);
});

test("an agent is paused: HPA and VPA act, a promotion is refused with the reason, and it is resumed", {
  timeout: 300_000,
}, async () => {
  const before = audited().length;
  const { page } = await visit(browser, `${up.url}/#/agents/queue-worker-agent`);
  // Paused, it moves no more.
  await untilDone(async () => {
    await page.keyboard.press("Escape");
    if ((await stageOf(page)) === "Serving") await sendBack(page);
    await confirm(page, "Pause");
    await expect.poll(() => page.locator(".head .badge").allInnerTexts(), SLOWLY).toEqual(["Paused"]);
    if ((await stageOf(page)) !== "Serving") return;
    await confirm(page, "Resume");
    throw new Error("the agent came to the end just before it was paused");
  });
  await confirm(page, "Promote");
  await expect
    .poll(() => page.getByRole("dialog").locator("[role=alert]").innerText(), SLOWLY)
    .toMatch(/^Not done\..*the agent is paused; resume it first$/);
  await picture(page, "up-promotion-refused");
  await page.keyboard.press("Escape");
  await confirm(page, "Resume");
  await expect.poll(() => page.locator(".head .badge").count(), SLOWLY).toBe(0);
  // The stream tells of it before the line is written and the answer is sent.
  await expect.poll(() => audited().slice(before).slice(-3)).toEqual(["pause", "promote", "resume"]);
});

test("a person promotes an agent before its gates hold, and rolls it back; both are in its history and in the audit log", {
  timeout: 300_000,
}, async () => {
  // From four episodes on the rules' level is known, without which nothing could watch over a learner. On a fast machine
  // agents are past OFFLINE by then, and what is left to promote one to is SERVING.
  const ready = ({ stage, episodes }: AgentDocument): boolean =>
    stage === "ONLINE" || (stage === "OFFLINE" && episodes.length > 4);
  const before = audited().length;
  const isServing = ({ stage }: AgentDocument): boolean => stage === "SERVING";
  const page = await untilDone(async () => {
    await expect.poll(async () => (await agents()).some((one) => ready(one) || isServing(one)), SLOWLY).toBe(true);
    const all = await agents();
    const agent = all.find(ready) ?? all.find(isServing);
    const { page } = await visit(browser, `${up.url}/#/agents/${agent?.id}`);
    if ((await stageOf(page)) === "Serving") await sendBack(page);
    await confirm(page, "Promote");
    await expect.poll(() => newestChange(page), PRESS).toMatch(/→ (Online|Serving)\s+A person decided so/);
    return page;
  });
  await picture(page, "up-promoted");

  await untilDone(async () => {
    await page.keyboard.press("Escape");
    await confirm(page, "Roll back");
    await expect.poll(() => newestChange(page), PRESS).toMatch(/→ Offline\s+A person decided so/);
  });
  // Those who came too late are in it, too.
  const inTurn = (): readonly (string | undefined)[] =>
    audited()
      .slice(before)
      .filter((kind, i, all) => kind !== all[i - 1]);
  await expect.poll(() => inTurn().slice(-2)).toEqual(["promote", "roll-back"]);
});

test("a person changes an SLO: mistakes are told beside the field, and who misses the new one is on top of the overview", async () => {
  const { page } = await visit(browser, `${up.url}/#/workloads/ml-serving`);
  await page.getByRole("button", { name: "Change the SLO…" }).click();
  const dialog = page.getByRole("dialog");
  const submit = (): Promise<void> => dialog.getByRole("button", { name: "Change the SLO", exact: true }).click();
  await page.getByLabel("Target").fill("0");
  await submit();
  expect(await page.locator("#slo-target-problem").innerText()).toBe("Give at least 0.01 ms: nothing can keep less.");
  expect(await page.getByLabel("Target").evaluate((field) => field === document.activeElement)).toBe(true);
  // What only the control plane knows is told beside its field as well.
  await page.getByLabel("Target").fill("1");
  await page.getByLabel("Quantile").fill("0.95");
  await submit();
  await expect
    .poll(() => page.locator("#slo-quantile-problem").innerText(), SLOWLY)
    .toContain("ml-serving is measured at quantile 0.99, not at 0.95");
  await picture(page, "up-slo-refused");
  await page.getByLabel("Quantile").fill("0.99");
  await submit();
  await expect.poll(() => page.locator(".toast").innerText(), SLOWLY).toContain("is now p99 latency at most 1.0 ms");

  await page.getByRole("link", { name: "Overview" }).first().click();
  const row = page.locator(".row", { hasText: "ML serving" });
  await expect.poll(() => row.locator(".badge").innerText(), SLOWLY).toBe("▲ In trouble");
  expect(await row.locator(".why").innerText()).toMatch(
    /^Misses its SLO since \d\d:\d\d \(\d+ ms, promised 1 ms at p99\): /,
  );
  expect(await page.locator("main h1").innerText()).toContain("in trouble");
  expect(await page.locator(".rows .row").first().locator(".badge").innerText()).toBe("▲ In trouble");
  await picture(page, "up-trouble");
});

test("every reason of every decision is said in words", async () => {
  const { items } = await read<Portion<DecisionDocument>>("/v1/decisions?limit=500");
  const reasons = items.flatMap(({ why }) => why);
  expect(reasons.length).toBeGreaterThan(0);
  const { fallback } = await read<AgentDocument>("/v1/agents/web-shop-agent");
  expect(fallback).toEqual({ name: "hpa+vpa", title: "HPA and VPA" });
  for (const reason of [...reasons, ...takeoverReasons.map((rule) => ({ by: "lifecycle", rule }))])
    expect(reasonWords(reason, fallback)).toMatch(/^[A-Z].*\.$/);
});

test("the process is killed: the page says so and keeps what it knows; started again on the same data, it goes on", async () => {
  const { page } = await visit(browser, `${up.url}/#/agents/web-shop-agent`);
  await untilDone(async () => {
    await page.keyboard.press("Escape");
    await confirm(page, "Pause");
    await expect.poll(() => page.locator(".head .badge").allInnerTexts(), PRESS).toEqual(["Paused"]);
  });
  const { history } = await read<AgentDocument>("/v1/agents/web-shop-agent");
  await page.getByRole("link", { name: "Overview" }).first().click();
  await page.waitForSelector(".rows .row");
  await up.kill();
  await expect.poll(() => page.locator(".banner").innerText(), SLOWLY).toContain("Not connected.");
  expect(await page.locator(".rows .row").count()).toBe(4);
  await picture(page, "up-killed");

  up = await startUp({ installed: inject("installed"), data, port: up.port });
  await page.locator(".banner").waitFor({ state: "detached", timeout: 20_000 });
  await expect.poll(() => page.locator(".connection").innerText(), SLOWLY).toContain("Live");
  const overview = await read<OverviewDocument>("/v1/overview");
  const [cluster] = overview.worlds;
  expect(cluster?.at).toBeGreaterThan(cluster?.startedAt ?? 0);
  const resumed = await read<AgentDocument>("/v1/agents/web-shop-agent");
  expect(resumed.isPaused).toBe(true);
  expect(resumed.history.slice(0, history.length)).toEqual(history);
  // A page that was open all along shows it as well, and can undo it.
  await page.goto(`${up.url}/#/agents/web-shop-agent`);
  await confirm(page, "Resume");
  await expect.poll(() => page.locator(".head .badge").count(), SLOWLY).toBe(0);
});

test("in the dark the same page is dark, charts included", async () => {
  const { page } = await visit(browser, `${up.url}/#/workloads/web-shop`, { dark: true });
  await page.waitForSelector(".charts canvas");
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)).toBe("rgb(17, 20, 23)");
  // The line of the charts is drawn in the colour that holds in the dark.
  const hasLine = (): Promise<boolean> =>
    page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>(".plot canvas");
      const pixels = canvas?.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
      for (let i = 0; i < pixels.length; i += 4)
        if (pixels[i] === 108 && pixels[i + 1] === 178 && pixels[i + 2] === 255) return true;
      return false;
    });
  await expect.poll(hasLine, SLOWLY).toBe(true);
  await picture(page, "up-workload-dark");
});

test("Ctrl-C ends it with code 130 and leaves nothing listening", async () => {
  expect(await up.stop()).toBe(130);
  await expect(fetch(up.url)).rejects.toThrow();
});
