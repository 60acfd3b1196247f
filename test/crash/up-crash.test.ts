/**
 * `coxswain up` killed with SIGKILL at random moments, started again on the same folder, and looked at through its API.
 * What was answered with 2xx must be there, exactly; the one request under way may have happened or not. What was shown
 * (stages and the way there, decisions, events, measurements, stored steps) must be shown again, and the world's time
 * never goes back. While it runs, somebody reads the agents all the time: no stage is ever shown without the move to it.
 */
import { setTimeout as after } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type Rng, seededRng } from "../../src/base/index.ts";
import type {
  AgentDocument,
  CommandDone,
  DecisionDocument,
  EventDocument,
  OverviewDocument,
  Page,
  SeriesDocument,
  SloDocument,
  TrajectoryDocument,
} from "../../src/contract/index.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { KnownPlane, type Settings, type Write } from "./known-plane.ts";
import { RunningUp, TOO_LATE } from "./running-up.ts";

const FEWEST = 3;
/** The fewest in `npm test`, for every start takes a second or two; `npm run test:crash` asks for twenty. */
const KILLS = Math.max(FEWEST, Math.round(Number(process.env.COXSWAIN_CRASH_KILLS ?? 8) / 5));
/** What a kill and a start may take before a slow machine does with fewer kills than asked for. */
const KILL_MS = 4_500;
/** Another one tries other moments and other writes; what a run found is found again with its seed, more or less. */
const SEED = Number(process.env.COXSWAIN_CRASH_SEED ?? 20_261_116);
/** Slower than most machines can, about as fast, and faster, where the world takes all the time there is. */
const SPEEDS = [300, 1_000, 4_000];
/** World time after which a person may promote: four episodes of 25 steps, and a little. */
const PROMOTABLE = 1_600_000;
/** A machine that others use as well is no reason to fail. */
const PATIENCE = { timeout: 240_000, interval: 50 };
/** An hour: no series of the test gets so long that a step of it is longer. */
const COARSEST = 3_600_000;
/** The most that a list shows at once. */
const LISTED = 500;
/** Below the server's limit for bursts of writes. */
const MOST_WRITES = 15;

const folder = temporaryFolder("up-crash");

/** What the lists showed last. */
interface Shown {
  readonly at: number;
  readonly decisions: readonly DecisionDocument[];
  readonly events: readonly EventDocument[];
  readonly times: readonly number[];
  readonly steps: readonly TrajectoryDocument[];
}

class Witness extends KnownPlane {
  underWay: Write | undefined;
  shown: Shown | undefined;
}

const agentsOf = async (up: RunningUp) => (await up.get<Page<AgentDocument>>("/v1/agents?task=pods")).items;
const SERIES = "web-shop";
const clusterTime = ({ worlds }: Pick<OverviewDocument, "worlds">): number => worlds[0]?.at ?? 0;

/** What went before has to be there, from the first answer on. */
async function verify(up: RunningUp, known: Witness): Promise<void> {
  const { underWay, shown: before } = known;
  const { workloads, ...overview } = await up.get<OverviewDocument>("/v1/overview");
  for (const document of await agentsOf(up)) known.compareAgent(document, underWay);
  // Services come later, if they come before the kill, and have no SLOs to set.
  for (const document of workloads) if (document.task === "pods") known.compareWorkload(document, underWay);
  known.underWay = undefined;
  if (before === undefined) return;
  expect(clusterTime(overview)).toBeGreaterThanOrEqual(before.at);
  const shown = await look(up, before.steps.at(-1));
  expect(unnumbered(shown.decisions)).toEqual(expect.arrayContaining(stillListed(before.decisions, shown.decisions)));
  expect(unnumbered(shown.events)).toEqual(expect.arrayContaining(stillListed(before.events, shown.events)));
  // A long series is shown in coarser steps, so the moments are not the same; the span they cover is.
  const [first, last] = [before.times.at(0) ?? Number.POSITIVE_INFINITY, before.times.at(-1) ?? 0];
  expect(shown.times.at(0) ?? 0).toBeLessThanOrEqual(first);
  expect(shown.times.at(-1) ?? 0).toBeGreaterThanOrEqual(last - COARSEST);
  expect(shown.steps).toEqual(expect.arrayContaining([...before.steps]));
  // Seen again once: the lists show the newest, and two starts later these are not among them any more.
  known.shown = undefined;
}

type Listed = DecisionDocument | EventDocument;
const unnumbered = (items: readonly Listed[]) => items.map(({ id: _, ...rest }) => rest);
/** Lists show the newest; on a machine that is fast, or busy elsewhere, much may have happened between two looks. */
const stillListed = (items: readonly Listed[], shown: readonly Listed[]) =>
  unnumbered(items.filter(({ at }) => shown.length < LISTED || at > (shown.at(-1)?.at ?? 0)));

/** What the lists show now; of the stored steps as many as there are back to the one that is looked for. */
async function look(up: RunningUp, oldest?: TrajectoryDocument): Promise<Shown> {
  const at = clusterTime(await up.get<OverviewDocument>("/v1/overview"));
  const list = `workload=${SERIES}&limit=${LISTED}`;
  const decisions = (await up.get<Page<DecisionDocument>>(`/v1/decisions?${list}`)).items;
  const events = (await up.get<Page<EventDocument>>(`/v1/events?${list}`)).items;
  const series = await up.get<SeriesDocument>(`/v1/workloads/${SERIES}/series?points=1000`);
  const path = `/v1/trajectories?agent=${SERIES}-agent&limit=200`;
  let { items: steps, next } = await up.get<Page<TrajectoryDocument>>(path);
  const isReached = () => steps.some(({ episode, step }) => episode === oldest?.episode && step === oldest.step);
  while (oldest !== undefined && next !== null && !isReached()) {
    const page: Page<TrajectoryDocument> = await up.get(`${path}&cursor=${encodeURIComponent(next)}`);
    steps = [...steps, ...page.items];
    next = page.next;
  }
  return { at, decisions, events, times: series.at, steps };
}

async function remember(up: RunningUp, known: Witness): Promise<void> {
  const { at, decisions, events, times, steps } = await look(up);
  known.shown = {
    at,
    decisions: decisions.slice(0, 50),
    events: events.slice(0, 50),
    times: times.slice(-50),
    // A step whose reward has not come yet may get it.
    steps: steps.filter(({ reward }) => reward !== null).slice(0, 50),
  };
}

/** Reads the agents again and again until told to stop. A process that is gone is no finding; what it showed is. */
function watch(up: RunningUp, known: Witness): () => Promise<void> {
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const { sofar } = known;
      const agents = await agentsOf(up).catch(() => []);
      for (const agent of agents) known.see(agent, sofar);
      await after(2);
    }
  })();
  // Its findings are thrown where it is waited for.
  watching.catch(() => undefined);
  return () => {
    isOver = true;
    return watching;
  };
}

const pick = <T>(rng: Rng, items: readonly T[]): T => items[rng.int(items.length)] as T;

function randomWrite(rng: Rng, known: Witness): Write {
  const id = pick(rng, [...known.settings.keys()]);
  switch (rng.int(6)) {
    case 0:
      return verb(id, "pause", (settings) => ({ ...settings, isPaused: true }));
    case 1:
      return verb(id, "resume", (settings) => ({ ...settings, isPaused: false }));
    case 2: {
      const mode = pick(rng, ["recommend", "canary", "act"] as const);
      const agent = { id, isMove: false, change: (settings: Settings) => ({ ...settings, mode }) };
      return { path: `/v1/agents/${id}/mode`, method: "PUT", body: { mode }, agent };
    }
    case 3: {
      const workload = pick(rng, [...known.workloads.keys()]);
      const slo = otherTarget(known.workloads.get(workload)?.slo ?? { kind: "none" }, rng);
      return { path: `/v1/workloads/${workload}/slo`, method: "PUT", body: slo, workload: { id: workload, slo } };
    }
    default:
      return verb(id, pick(rng, ["promote", "promote", "roll-back"]), (settings) => settings);
  }
}

const verb = (id: string, name: string, change: (settings: Settings) => Settings): Write => ({
  path: `/v1/agents/${id}/${name}`,
  method: "POST",
  agent: { id, isMove: name === "promote" || name === "roll-back", change },
});

const otherTarget = (slo: SloDocument, rng: Rng): SloDocument =>
  slo.kind === "none" ? slo : { ...slo, target: 1 + rng.int(5_000) };

interface Sending {
  readonly up: RunningUp;
  readonly known: Witness;
}

/** Whether it was answered; where it was not, it may be done or not. */
async function send({ up, known }: Sending, write: Write): Promise<boolean> {
  known.underWay = write;
  const { status, body } = await up.ask<CommandDone>(write.path, write);
  // As if the process had been killed.
  if (status === TOO_LATE) return false;
  known.underWay = undefined;
  // Refused by the rules of the lifecycle, and nothing has changed.
  if (status === 409) return true;
  expect(status, JSON.stringify(body)).toBe(200);
  known.note(write, body);
  return true;
}

/** Whoever is answered and then looks sees what came of it. */
async function sendAndLook({ up, known }: Sending, write: Write): Promise<boolean> {
  const isAnswered = await send({ up, known }, write);
  if (isAnswered && write.agent) {
    const { id } = write.agent;
    const { sofar } = known;
    const document = await up.get<AgentDocument>(`/v1/agents/${id}`);
    known.see(document, sofar);
    expect(document).toMatchObject(known.settings.get(id) ?? {});
  }
  return isAnswered;
}

/** Writes until the process is killed: within the last acknowledgement, or a random moment after it. */
async function writeAndKill(up: RunningUp, known: Witness, rng: Rng): Promise<void> {
  const writes = rng.int(MOST_WRITES);
  for (let sent = 0; sent < writes; sent++) {
    if (!(await sendAndLook({ up, known }, randomWrite(rng, known)))) break;
    if (rng.int(3) === 0) await after(rng.int(300));
  }
  if (known.underWay === undefined && rng.int(2) === 0) await remember(up, known);
  if (known.underWay === undefined && rng.int(2) === 0) {
    // Gone with the answer, or before it.
    const sending = send({ up, known }, randomWrite(rng, known)).catch((thrown: unknown) => thrown);
    const isImpatient = rng.int(2) === 0;
    await (isImpatient ? after(rng.int(30)) : sending);
    await up.kill();
    const thrown = await sending;
    if (thrown instanceof Error && thrown.name === "AssertionError") throw thrown;
  }
  expect(await up.kill()).toBe(true);
}

/** Twice by hand, with the first kill right behind the last answer: something to lose on any machine. */
async function moveEverybody(up: RunningUp, known: Witness): Promise<void> {
  const at = clusterTime(await up.get<OverviewDocument>("/v1/overview"));
  const now = async () => clusterTime(await up.get<OverviewDocument>("/v1/overview"));
  await expect.poll(now, PATIENCE).toBeGreaterThan(at + PROMOTABLE);
  const promotions = [...known.settings.keys()].map((id) => verb(id, "promote", (settings) => settings));
  for (const promotion of promotions) if (!(await sendAndLook({ up, known }, promotion))) return;
  for (const promotion of promotions) if (!(await send({ up, known }, promotion))) return;
}

async function live(speed: number, known: Witness, during: (up: RunningUp) => Promise<void>): Promise<void> {
  const up = new RunningUp(folder, { speed });
  try {
    await verify(up, known);
    const stop = watch(up, known);
    try {
      await during(up);
    } finally {
      await stop();
    }
  } finally {
    await up.kill();
  }
}

describe("coxswain up, killed with SIGKILL at random moments", () => {
  test(`goes on with all that was acknowledged or shown, up to ${KILLS} kills long, seed ${SEED}`, {
    timeout: 900_000,
  }, async () => {
    const rng = seededRng(SEED);
    const known = new Witness();
    await live(1_000, known, async (up) => {
      await moveEverybody(up, known);
      expect(await up.kill()).toBe(true);
    });
    const began = performance.now();
    for (let kill = 1; kill < KILLS && (kill < FEWEST || performance.now() - began < KILLS * KILL_MS); kill++) {
      const speed = pick(rng, SPEEDS);
      if (rng.int(3) === 0) {
        // Killed while it starts: whatever it does then must not stand in the way of the next one.
        const early = new RunningUp(folder, { speed });
        await after(rng.int(1_500));
        await early.kill();
      }
      await live(speed, known, (up) => writeAndKill(up, known, rng.fork(String(kill))));
    }
    await live(1_000, known, async () => undefined);
    // Without moves nothing was at stake.
    expect([...known.movedByHand.values()].reduce((sum, moves) => sum + moves, 0)).toBeGreaterThan(0);
  });
});
