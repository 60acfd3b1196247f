/**
 * What was told as lines of a file.
 * Owns: what a line looks like. Measurements are most of it, so their numbers stand without names: a line in front of them
 * names a workload's knobs and sums, twice, for without it none of them could be read.
 * Not here: the files (history-files.ts), lengths and checksums of lines (adapters/runtime/sealed-lines.ts).
 */
import { sealedLine } from "../../adapters/runtime/index.ts";
import type { BudgetDocument, EventDocument, PlaneUpdate, Sample } from "../../contract/index.ts";
import { toldDecisionSchema } from "../../contract/schemas/index.ts";
import { readAccount, writtenAccount } from "../../plane/index.ts";

export type Told = Extract<PlaneUpdate, { readonly kind: "samples" | "decision" | "event" }>;

type Numbers = readonly (number | null)[];
/** Earlier versions wrote rows without a budget. */
type Row = readonly [
  workload: string,
  sample: Numbers,
  twin: Numbers | null,
  own: Numbers,
  twinSums: Numbers | null,
  budget?: Numbers | null,
];

/** In the order in which a row has their numbers. */
interface Names {
  readonly have: readonly string[];
  readonly use: readonly string[];
  readonly sums: readonly string[];
}

type Values = Readonly<Record<string, number | null>>;
const valuesOf = (part: Values, names: readonly string[]): Numbers => names.map((name) => part[name] ?? null);

/** Of one file, from its beginning. */
export class LineWriter {
  readonly #named = new Map<string, string>();

  lines(updates: readonly PlaneUpdate[]): string {
    return updates.map((update) => this.#lineOf(update)).join("");
  }

  #lineOf(update: PlaneUpdate): string {
    switch (update.kind) {
      case "samples":
        return this.#samples(update);
      case "decision":
        return sealedLine(JSON.stringify(["d", update.decision]));
      case "event":
        return sealedLine(JSON.stringify(["e", update.event]));
      default:
        return "";
    }
  }

  #samples({ at, samples }: Extract<PlaneUpdate, { readonly kind: "samples" }>): string {
    let named = "";
    const rows = samples.map(({ workload, sample, twin, account, twinAccount, budget }): Row => {
      const own = writtenAccount(account);
      const names = {
        have: Object.keys(sample.have),
        use: Object.keys(sample.use),
        sums: Object.keys(own),
      };
      const line = sealedLine(JSON.stringify(["n", workload, names]));
      if (this.#named.get(workload) !== line) named += line + line;
      this.#named.set(workload, line);
      return [
        workload,
        numbersOf(sample, names),
        twin && numbersOf(twin, names),
        valuesOf(own, names.sums),
        twinAccount && valuesOf(writtenAccount(twinAccount), names.sums),
        budget && budgetNumbers(budget),
      ];
    });
    return named + sealedLine(JSON.stringify(["s", at, rows]));
  }
}

const numbersOf = (sample: Sample, { have, use }: Names): Numbers => [
  sample.load,
  sample.latency,
  sample.preservation,
  sample.ready,
  sample.reward,
  sample.cost,
  ...valuesOf(sample.have, have),
  ...valuesOf(sample.use, use),
  // Behind the rest, since earlier versions did not write it.
  sample.expected,
];

const budgetNumbers = ({ attainment, windowMs, steps, missed, left, burn }: BudgetDocument): Numbers => [
  attainment,
  windowMs,
  steps,
  missed,
  left,
  burn.short,
  burn.long,
];

function budgetIn(numbers: Numbers): BudgetDocument {
  const values = numbers.map((value) => value ?? 0);
  const [attainment = 0, windowMs = 0, steps = 0, missed = 0, left = 0, short = 0, long = 0] = values;
  return { attainment, windowMs, steps, missed, left, burn: { short, long } };
}

/** A line of another version is passed over, and measurements that nobody named. */
export function toldIn(lines: readonly string[]): Told[] {
  const named = new Map<string, Names>();
  return lines.flatMap((line) => {
    try {
      return toldBy(JSON.parse(line) as unknown[], named) ?? [];
    } catch {
      return [];
    }
  });
}

function toldBy([kind, what, rest]: readonly unknown[], named: Map<string, Names>): Told | undefined {
  switch (kind) {
    case "n":
      named.set(what as string, rest as Names);
      return undefined;
    case "s": {
      const at = what as number;
      return { kind: "samples", at, samples: (rest as readonly Row[]).flatMap((row) => sampled(at, row, named)) };
    }
    case "d":
      return { kind: "decision", decision: toldDecisionSchema.parse(what) };
    case "e":
      return { kind: "event", event: what as Omit<EventDocument, "id"> };
    default:
      return undefined;
  }
}

function sampled(at: number, [workload, sample, twin, own, twinSums, budget]: Row, named: ReadonlyMap<string, Names>) {
  const names = named.get(workload);
  if (names === undefined) return [];
  const accountOf = (numbers: Numbers) =>
    readAccount({ steps: 0, violations: 0, cost: 0, ...byName(names.sums, numbers, 0) });
  return [
    {
      workload,
      sample: sampleOf(at, sample, names),
      twin: twin && sampleOf(at, twin, names),
      account: accountOf(own),
      twinAccount: twinSums && accountOf(twinSums),
      budget: budget ? budgetIn(budget) : null,
    },
  ];
}

function sampleOf(at: number, numbers: Numbers, { have, use }: Names): Sample {
  const [load = null, latency = null, preservation = null, ready, reward = null, cost, ...rest] = numbers;
  return {
    at,
    load,
    latency,
    preservation,
    expected: rest[have.length + use.length] ?? null,
    ready: ready ?? 0,
    have: byName(have, rest, 0),
    use: byName(use, rest.slice(have.length), null),
    reward,
    cost: cost ?? 0,
  };
}

const byName = <M extends number | null>(names: readonly string[], numbers: Numbers, missing: M) =>
  Object.fromEntries(names.map((name, index): [string, number | M] => [name, numbers[index] ?? missing]));
