/**
 * An agent learns to balance a pole while one watches: a random policy first, then learning, then the learned policy on
 * episodes it has not seen. The same numbers come out with and without a terminal; only the drawing differs.
 */

import { unwrap } from "../../base/index.ts";
import { makeEnv } from "../../learn/env/index.ts";
import { ppoDefaults, Training } from "../../learn/rl/index.ts";
import { mean } from "../../studies/index.ts";
import type { KernelChoice } from "../kernels.ts";
import { openKernels } from "../kernels.ts";
import { isLive, printLine, type Session } from "../shell.ts";
import { type Point, terminalPlot } from "../terminal-plot.ts";
import { randomReturns } from "../training/random-policy.ts";
import { cartPolePicture } from "./cart-pole-picture.ts";
import { LiveScreen } from "./live-screen.ts";

const TASK = "CartPole-v1";
const STEPS = 60_000;
const EPISODES = 20;
/** The learning part gives up after this long, so that the whole ends within a minute on a slow machine too. */
const BUDGET_MS = 40_000;
const FRAME_MS = 80;
/** Episodes that one point of the curve averages over. */
const WINDOW = 20;
/** The physics moves in steps of 20 ms; every second one is shown. */
const PICTURE_MS = 40;
const PICTURE_SHOWN_MS = 4_000;

const config = {
  ...ppoDefaults,
  lr: { from: 1e-3, to: 1e-4, fraction: 1 },
  epochs: 8,
};

export interface DemoOutcome {
  readonly task: string;
  readonly algorithm: "ppo";
  readonly seed: number;
  readonly steps: number;
  readonly seconds: number;
  readonly stepsPerSecond: number;
  readonly kernels: string;
  readonly before: { readonly policy: "random"; readonly meanReturn: number; readonly episodes: number };
  readonly after: { readonly policy: "learned"; readonly meanReturn: number; readonly episodes: number };
  /** Mean return of the last episodes against steps, as it was drawn. */
  readonly curve: readonly Point[];
}

export interface DemoOptions {
  readonly seed: number;
  readonly kernels: KernelChoice;
  /** Nothing but the outcome is wanted. */
  readonly quiet: boolean;
}

export async function runDemo(session: Session, options: DemoOptions): Promise<DemoOutcome> {
  const live = !options.quiet && isLive(session, session.stdout);
  const say = (text: string) => {
    if (!options.quiet) printLine(session, text);
  };
  const screen = live ? new LiveScreen(session) : undefined;
  const kernels = openKernels(options.kernels);
  try {
    say(`An agent learns ${TASK}: push a cart left or right so that the pole on it stays up.`);
    say("Each step that it stays up earns 1; an episode ends after 500 steps, or when the pole falls.\n");
    const before = mean(randomReturns({ envId: TASK, episodes: EPISODES, seed: options.seed }));
    say(`Before: a random policy earns ${before.toFixed(1)} per episode (mean of ${EPISODES}).\n`);

    const recent: number[] = [];
    const curve: Point[] = [];
    const training = new Training({
      envId: TASK,
      algorithm: { kind: "ppo", config },
      seed: options.seed,
      kernels,
      totalSteps: STEPS,
      callbacks: {
        onEpisode(episode) {
          recent.push(episode.return);
          if (recent.length > WINDOW) recent.shift();
          curve.push({ x: episode.steps, y: mean(recent) });
          return undefined;
        },
      },
    });
    try {
      const started = session.now();
      let drawn = started;
      let told = 0;
      while (!training.isDone && session.now() - started < BUDGET_MS) {
        session.signal.throwIfAborted();
        training.advance(200);
        const now = session.now();
        if (screen && now - drawn >= FRAME_MS) {
          drawn = now;
          screen.draw(frame(session, { curve, steps: training.steps, elapsedMs: now - started }));
        } else if (!screen && training.steps - told >= STEPS / 12) {
          told = training.steps;
          say(
            `step ${String(training.steps).padStart(6)}   mean return of the last ${WINDOW} episodes ${(curve.at(-1)?.y ?? 0).toFixed(1)}`,
          );
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
      const elapsedMs = session.now() - started;
      screen?.draw(frame(session, { curve, steps: training.steps, elapsedMs }));
      screen?.keep();
      const after = training.evaluate({ episodes: EPISODES, seed: options.seed }).mean;
      const seconds = elapsedMs / 1000;
      say(
        `\nAfter:  the learned policy earns ${after.toFixed(1)} per episode (mean of ${EPISODES} new ones, at most 500).`,
      );
      say(
        `        ${training.steps.toLocaleString("en-US")} steps in ${seconds.toFixed(1)} s on one core, ${kernels.name} kernels, seed ${options.seed}.`,
      );
      if (screen) await showPolicy(session, training, { screen, seed: options.seed });
      say("\nNext: `coxswain reproduce --list`, `coxswain train --help`, `coxswain doctor`.");
      return {
        task: TASK,
        algorithm: "ppo",
        seed: options.seed,
        steps: training.steps,
        seconds: Number(seconds.toFixed(2)),
        stepsPerSecond: Math.round(training.steps / seconds),
        kernels: kernels.name,
        before: { policy: "random", meanReturn: before, episodes: EPISODES },
        after: { policy: "learned", meanReturn: after, episodes: EPISODES },
        curve,
      };
    } finally {
      training.dispose();
    }
  } finally {
    screen?.close();
  }
}

interface FrameParts {
  readonly curve: readonly Point[];
  readonly steps: number;
  readonly elapsedMs: number;
}

function frame(session: Session, { curve, steps, elapsedMs }: FrameParts): string {
  const columns = Math.min(session.stdout.columns ?? 80, 100);
  const rows = Math.min(Math.max((session.stdout.rows ?? 24) - 10, 8), 16);
  const plot = terminalPlot(curve, {
    columns,
    rows,
    xLabel: "steps",
    yLabel: `return per episode, mean of the last ${WINDOW}`,
    xDomain: [0, STEPS],
    yDomain: [0, 500],
    reference: { y: 475, label: "475: counts as solved" },
  });
  const rate = elapsedMs > 0 ? Math.round((steps / elapsedMs) * 1000) : 0;
  const status = `learning with PPO: ${Math.round((100 * steps) / STEPS)} %, ${rate.toLocaleString("en-US")} steps/s`;
  return `${plot}\n${status}`
    .split("\n")
    .map((line) => line.slice(0, columns))
    .join("\n");
}

/** The learned policy at the speed of the physics. */
async function showPolicy(
  session: Session,
  { learner }: Training,
  { screen, seed }: { readonly screen: LiveScreen; readonly seed: number },
): Promise<void> {
  const env = makeEnv(TASK);
  const size = { columns: Math.min(session.stdout.columns ?? 80, 60), rows: 6 };
  let { obs } = env.reset({ seed });
  let isUp = true;
  const until = session.now() + PICTURE_SHOWN_MS;
  printLine(session, "");
  for (let step = 0; isUp && session.now() < until; step++) {
    session.signal.throwIfAborted();
    const { action } = unwrap(learner.act(obs, { explore: false }));
    const next = env.step(action[0] as number);
    obs = next.obs;
    isUp = next.end === "no";
    if (step % 2 > 0) continue;
    screen.draw(cartPolePicture(obs, size));
    await new Promise((resolve) => setTimeout(resolve, PICTURE_MS));
  }
  screen.keep();
  env.close();
}
