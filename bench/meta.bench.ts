/** `coxswain bench meta`: what embeddings cost, to refresh, to decide under and to train, against PyTorch in one run. */

import { type Measured, MICROSECONDS, MILLISECONDS, plainFigure, type Unit } from "./comparison.ts";
import { agreement } from "./engine/agreement.ts";
import { Crew, type Part } from "./engine/crew.ts";
import type { Rounds } from "./measure.ts";
import { writeMetaFixtures } from "./meta/fixtures.ts";
import { pretrainingFigures } from "./meta/pretraining.ts";
import { atMost, type Bench, type BenchReport, type Bound, describeMachine, type Figure, round } from "./report.ts";

const OURS = ["wasm", "native"] as const;

interface Question {
  readonly task: string;
  readonly what: string;
  readonly unit: Unit;
  readonly bounds: { readonly [role in (typeof OURS)[number]]?: Bound };
}

/** One core, full size: bidirectional GRU of 2 × 256, dense 256 and 64, bundles of 20 trajectories of 100 steps. */
const QUESTIONS: readonly Question[] = [
  {
    task: "meta-trajectory",
    what: "a trajectory of 100 steps more, embedding refreshed",
    unit: MILLISECONDS,
    bounds: { wasm: atMost(20, "ms") },
  },
  {
    task: "meta-bundle",
    what: "a bundle of 20 trajectories read anew",
    unit: MILLISECONDS,
    bounds: { wasm: atMost(250, "ms"), native: atMost(120, "ms") },
  },
  {
    task: "meta-decide",
    what: "a decision with the current embedding",
    unit: MICROSECONDS,
    bounds: { wasm: atMost(20, "µs"), native: atMost(20, "µs") },
  },
  { task: "meta-pass", what: "one application's training pass and the step", unit: MILLISECONDS, bounds: {} },
];

export const metaBench: Bench = {
  title: "embeddings at full size: refreshing, deciding, training; one thread, against PyTorch",
  async run(context): Promise<BenchReport> {
    const { quick, signal, log } = context;
    const machine = describeMachine();
    log("starting the contenders");
    const crew = await Crew.start(context, {
      roles: [...OURS, "torch"],
      probe: "meta-decide",
      writeFixtures: writeMetaFixtures,
    });
    try {
      const rounds: Rounds = quick
        ? { count: 3, lengthMs: 60, warmupMs: 120, signal }
        : { count: 10, lengthMs: 200, warmupMs: 500, signal };
      log("measuring agreement");
      const figures: Figure[] = await agreement(crew, [
        {
          task: "meta-bundle",
          what: "an embedding of 20 trajectories",
          steps: 1,
          tolerance: 1e-5,
          peers: ["native", "torch"],
        },
        {
          task: "meta-pass",
          what: "an embedding after 3 training passes",
          steps: 3,
          tolerance: 1e-3,
          peers: ["native", "torch"],
        },
      ]);
      for (const question of QUESTIONS) {
        log(`measuring ${question.what}`);
        figures.push(...(await answer(crew, question, rounds)));
      }
      log("measuring rounds of pre-training");
      figures.push(...(await pretrainingFigures(crew, { quick, signal })));
      return { figures, absent: crew.absent, machine: machine(crew) };
    } finally {
      await crew.end();
    }
  },
};

async function answer(crew: Crew, { task, what, unit, bounds }: Question, rounds: Rounds): Promise<Figure[]> {
  const version = crew.has("torch") ? crew.get("torch").greeting.replace("torch", "PyTorch").replace(/\+\S*/, "") : "";
  const parts: readonly Part[] = [
    ...OURS.map((role) => ({ key: role, role, task, label: `our engine, ${role} kernels` })),
    { key: "torch", role: "torch", task, label: `${version}, one thread` },
  ];
  const results = await crew.measure(parts, rounds);
  const options = { what, unit };
  const peer = results.get("torch");
  const figures = OURS.flatMap((role) => {
    const own = results.get(role);
    return own ? [ownFigure({ own, peer, bound: bounds[role] }, { ...options, id: `${task}.${role}` })] : [];
  });
  return peer ? [...figures, plainFigure(peer, { ...options, id: `${task}.torch` })] : figures;
}

/** The bound is on our own time; the ratio says how many times faster than the peer that is. */
function ownFigure(
  { own, peer, bound }: { own: Measured; peer: Measured | undefined; bound: Bound | undefined },
  options: { id: string; what: string; unit: Unit },
): Figure {
  const { unit } = options;
  return {
    ...plainFigure(own, options),
    ...(peer ? { peer: `${peer.label}: ${round(peer.timing.best / unit.ns)} ${unit.name}` } : {}),
    ...(peer ? { ratio: round(peer.timing.best / own.timing.best) } : {}),
    ...(bound ? { target: bound.text, holds: bound.accepts(own.timing.best / unit.ns) } : {}),
  };
}
