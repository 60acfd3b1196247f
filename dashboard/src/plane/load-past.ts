/** Fetches the stored past of a workload once, when something first wants to draw it. */
import { readDecisions, readSeries } from "./client.ts";
import { type PlaneStore, POINTS, type WorkloadCell } from "./store.ts";

/** As many as one answer may hold. */
const STORED_DECISIONS = 500;
/** What the charts begin with, of the managed world's time. */
const SPAN_MS = 3 * 3_600_000;
/** More than the steps of that span: the world has moved on until the answer, and what is thinned cannot be counted. */
const STORED_POINTS = 2 * POINTS;
const isUnderWay = new WeakSet<WorkloadCell>();

export function loadPast(cell: WorkloadCell): void {
  if (cell.hasPast || isUnderWay.has(cell)) return;
  isUnderWay.add(cell);
  cell.hasPast = true;
  const now = cell.now.peek()?.at ?? 0;
  readSeries(cell.id, { from: now - SPAN_MS, points: STORED_POINTS })
    .then((series) => {
      cell.history.prepend(series);
      cell.grown.value += 1;
    })
    // The charts then begin with what arrives live; the next connection asks again.
    .catch(() => undefined)
    .finally(() => isUnderWay.delete(cell));
}

export async function loadDecisions(store: PlaneStore, workload: string): Promise<void> {
  const page = await readDecisions(workload, STORED_DECISIONS);
  store.takePastDecisions(workload, page.items);
}
