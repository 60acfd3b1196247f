/**
 * Things that happened, newest first, in bounded memory.
 * Owns: ids that rise, lanes that forget their oldest on their own (so that a flood in one lane costs no other lane its
 * memory), and paging over lanes by id. Not here: what is kept (read-model.ts).
 */
import type { Page } from "../../contract/index.ts";

export interface PageQuery<T> {
  /** Only these; absent ones are empty. All when not given. */
  readonly lanes?: readonly string[] | undefined;
  readonly where?: ((item: T) => boolean) | undefined;
  /** Only what is older than this id. */
  readonly before: number | null;
  readonly limit: number;
}

export interface Journal<T extends { readonly id: number }> {
  append(lane: string, make: (id: number) => T): T;
  page(query: PageQuery<T>): Page<T>;
}

interface Lane<T> {
  /** A ring: `items[count % capacity]` is the next to be overwritten. */
  readonly items: T[];
  count: number;
}

export function createJournal<T extends { readonly id: number }>({
  capacityPerLane,
}: {
  readonly capacityPerLane: number;
}): Journal<T> {
  const lanes = new Map<string, Lane<T>>();
  let lastId = 0;

  return {
    append(name, make) {
      let lane = lanes.get(name);
      if (lane === undefined) {
        lane = { items: [], count: 0 };
        lanes.set(name, lane);
      }
      lastId += 1;
      const item = make(lastId);
      lane.items[lane.count % capacityPerLane] = item;
      lane.count += 1;
      return item;
    },

    page({ lanes: wanted, where, before, limit }) {
      const chosen = wanted === undefined ? [...lanes.values()] : wanted.flatMap((name) => lanes.get(name) ?? []);
      const walkers = chosen.map((lane) => newestFirst(lane, { before, capacity: capacityPerLane }));
      const heads = walkers.map((walker) => walker.next());
      const items: T[] = [];
      for (;;) {
        const newest = indexOfNewest(heads);
        if (newest === -1) return { items, next: null };
        const item = heads[newest]?.value as T;
        if (where === undefined || where(item)) {
          // One is looked at beyond the limit, so that `next` is only given where something follows.
          if (items.length === limit) return { items, next: String(items.at(-1)?.id ?? item.id + 1) };
          items.push(item);
        }
        heads[newest] = (walkers[newest] as Generator<T>).next();
      }
    },
  };
}

function* newestFirst<T extends { readonly id: number }>(
  { items, count }: Lane<T>,
  { before, capacity }: { before: number | null; capacity: number },
): Generator<T> {
  const oldest = count - items.length;
  const at = (position: number): T => items[position % capacity] as T;
  // Ids rise within a lane: halve until the newest one below the cursor is found.
  let low = oldest;
  let high = count;
  while (before !== null && low < high) {
    const middle = (low + high) >> 1;
    if (at(middle).id < before) low = middle + 1;
    else high = middle;
  }
  for (let position = (before === null ? count : low) - 1; position >= oldest; position -= 1) yield at(position);
}

function indexOfNewest<T extends { readonly id: number }>(heads: readonly IteratorResult<T>[]): number {
  let best = -1;
  let bestId = Number.NEGATIVE_INFINITY;
  heads.forEach((head, index) => {
    if (head.done !== true && head.value.id > bestId) {
      best = index;
      bestId = head.value.id;
    }
  });
  return best;
}
