/** Figures out of a page of metrics: one counter, and a percentile of the API's answers between two pages. */

const BUCKET = /^coxswain_http_request_duration_seconds_bucket\{(.*)le="([^"]+)"\} (\S+)$/;

/** The value of the line that begins with this name and labels; 0 where there is none. */
export function counterOf(page: string, name: string): number {
  const line = page.split("\n").find((one) => one.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}

/**
 * Milliseconds: the smallest bound of the histogram that this share of the answers since the earlier page kept; NaN of none.
 * Scrapes and streams are no answers that anybody waits for.
 */
export function answerTimes(
  page: string,
  { since, share }: { readonly since: string; readonly share: number },
): number {
  const [now, then] = [buckets(page), buckets(since)];
  const bounds = [...now.keys()].sort((a, b) => a - b);
  const within = (bound: number) => (now.get(bound) ?? 0) - (then.get(bound) ?? 0);
  const all = within(Number.POSITIVE_INFINITY);
  if (!(all > 0)) return Number.NaN;
  return 1_000 * (bounds.find((bound) => within(bound) >= share * all) ?? Number.NaN);
}

function buckets(page: string): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  for (const line of page.split("\n")) {
    const [, labels = "", le = "", count = ""] = BUCKET.exec(line) ?? [];
    if (le === "" || labels.includes('route="/metrics"') || labels.includes('route="/v1/stream"')) continue;
    const bound = le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le);
    sums.set(bound, (sums.get(bound) ?? 0) + Number(count));
  }
  return sums;
}
