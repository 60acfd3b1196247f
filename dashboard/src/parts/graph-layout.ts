/**
 * Where the vertices of a call graph stand: callers left of those they call, as few crossings as a few sweeps can do.
 * Owns: layers, order within a layer, which calls are worth a line. Pure; the same graph gives the same picture, whatever order its edges come in.
 */

export interface LaidOut {
  readonly name: string;
  /** From 0 at the left, and from 0 at the top. */
  readonly layer: number;
  readonly row: number;
}

interface Edge {
  readonly caller: string;
  readonly callee: string;
}

const SWEEPS = 4;

/** Rarer calls are left to a table: a span that was lost on its way makes those below it look like somebody else's. */
const RARE = 0.01;

/** Of the calls that each gets, those that are more than one in a hundred. */
export function usualCalls<E extends Edge & { readonly calls: number }>(edges: readonly E[]): readonly E[] {
  const received = new Map<string, number>();
  for (const { callee, calls } of edges) received.set(callee, (received.get(callee) ?? 0) + calls);
  return edges.filter(({ callee, calls }) => calls > RARE * (received.get(callee) ?? 0));
}

export function layOut(names: readonly string[], edges: readonly Edge[]): readonly LaidOut[] {
  const sorted = [...names].sort();
  const known = new Set(sorted);
  const calls = edges
    .filter(({ caller, callee }) => caller !== callee && known.has(caller) && known.has(callee))
    .sort((a, b) => compare(a.caller, b.caller) || compare(a.callee, b.callee));
  const layerOf = layersOf(sorted, calls);
  const layers: string[][] = [];
  for (const name of sorted) {
    const layer = layerOf.get(name) ?? 0;
    layers[layer] = [...(layers[layer] ?? []), name];
  }
  const filled = Array.from(layers, (layer) => layer ?? []);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isForward = sweep % 2 === 0;
    const order = isForward ? filled.keys() : [...filled.keys()].reverse();
    for (const layer of order) {
      const places = new Map(filled.flatMap((row) => row.map((name, place) => [name, place / row.length] as const)));
      const neighbours = (name: string): readonly number[] =>
        calls
          .filter(({ caller, callee }) => (isForward ? callee === name : caller === name))
          .map(({ caller, callee }) => places.get(isForward ? caller : callee) ?? 0);
      const weight = new Map(
        (filled[layer] ?? []).map((name) => {
          const around = neighbours(name);
          return [name, around.length === 0 ? (places.get(name) ?? 0) : mean(around)] as const;
        }),
      );
      filled[layer]?.sort((a, b) => (weight.get(a) ?? 0) - (weight.get(b) ?? 0) || compare(a, b));
    }
  }
  return filled.flatMap((row, layer) => row.map((name, place) => ({ name, layer, row: place })));
}

/** The longest way from somebody whom nobody calls. Those who call each other in a circle end after as many rounds. */
function layersOf(names: readonly string[], calls: readonly Edge[]): ReadonlyMap<string, number> {
  const layer = new Map(names.map((name) => [name, 0]));
  for (let round = 0; round < names.length; round++) {
    let isChanged = false;
    for (const { caller, callee } of calls) {
      const next = Math.min(names.length - 1, (layer.get(caller) ?? 0) + 1);
      if (next <= (layer.get(callee) ?? 0)) continue;
      layer.set(callee, next);
      isChanged = true;
    }
    if (!isChanged) return layer;
  }
  // In a circle somebody has to be first: everybody as near to the left as the calls without it allow.
  const used = [...new Set(layer.values())].sort((a, b) => a - b);
  return new Map([...layer].map(([name, at]) => [name, used.indexOf(at)]));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
