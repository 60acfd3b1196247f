/**
 * The one place that knows the metrics library.
 * Owns: writing values in Prometheus' text format. Values are set anew for each scrape, so that whatever ceased to be
 * measured disappears instead of standing still, and between two scrapes nothing is paid for.
 * Not here: names (catalog.ts), values (plane-metrics.ts).
 */
import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from "prom-client";
import type { TimingsDocument } from "../../contract/index.ts";
import { catalog, type MetricKey, type MetricSpec } from "./catalog.ts";

export class MetricsPage {
  readonly #registry = new Registry();
  readonly #values = new Map<MetricKey, Gauge | Counter>();
  readonly #timings = new Map<MetricKey, SummedHistogram>();

  constructor({ withProcess }: { readonly withProcess: boolean }) {
    for (const [key, spec] of Object.entries(catalog) as [MetricKey, MetricSpec][]) {
      const { name, help, labels: labelNames } = spec;
      const options = { name, help, labelNames, registers: [this.#registry] };
      if (spec.type === "gauge") this.#values.set(key, new Gauge(options));
      else if (spec.type === "counter") this.#values.set(key, new Counter(options));
      else {
        const histogram = new SummedHistogram(spec);
        this.#timings.set(key, histogram);
        // The registry asks of a metric what this one has; the type wants the library's own classes.
        this.#registry.registerMetric(histogram as unknown as Metric);
      }
    }
    // Processor time, memory, open files, garbage collection and event-loop lag of this process, by their usual names.
    if (withProcess) collectDefaultMetrics({ register: this.#registry });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  begin(): void {
    for (const metric of [...this.#values.values(), ...this.#timings.values()]) metric.reset();
  }

  /** Labels in the order of the catalog; null: nothing was measured, and nothing is shown. */
  set(key: MetricKey, labels: readonly string[], value: number | null): void {
    if (value === null || !Number.isFinite(value)) return;
    const metric = this.#values.get(key);
    const named = Object.fromEntries(catalog[key].labels.map((name, i) => [name, labels[i] ?? ""]));
    if (metric instanceof Counter) metric.inc(named, Math.max(0, value));
    else metric?.set(named, value);
  }

  /** Labels in the order of the catalog. */
  setTimings(key: MetricKey, figures: TimingsDocument, labels: readonly string[] = []): void {
    const named = Object.fromEntries(catalog[key].labels.map((name, i) => [name, labels[i] ?? ""]));
    this.#timings.get(key)?.set(named, figures);
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}

type Labels = Readonly<Record<string, string | number>>;

const NONE: TimingsDocument = { bounds: [], counts: [0], sum: 0 };

/** A histogram that was counted elsewhere, on another thread: the library's own can only be told one value at a time. */
class SummedHistogram {
  readonly name: string;
  readonly help: string;
  readonly type = "histogram";
  readonly aggregator = "sum";
  readonly #isLabelled: boolean;
  #all: { readonly labels: Labels; readonly figures: TimingsDocument }[] = [];

  constructor({ name, help, labels }: MetricSpec) {
    this.name = name;
    this.help = help;
    this.#isLabelled = labels.length > 0;
  }

  set(labels: Labels, figures: TimingsDocument): void {
    this.#all.push({ labels, figures });
  }

  get() {
    const { name, help, type, aggregator } = this;
    // One without labels is there from the beginning, with nothing in it.
    const all = this.#all.length > 0 || this.#isLabelled ? this.#all : [{ labels: {}, figures: NONE }];
    const values = all.flatMap(({ labels, figures: { bounds, counts, sum } }) => {
      let total = 0;
      const buckets = counts.map((count, i) => {
        total += count;
        return { labels: { ...labels, le: bounds[i] ?? "+Inf" }, value: total, metricName: `${name}_bucket` };
      });
      return [
        ...buckets,
        { labels, value: sum, metricName: `${name}_sum` },
        { labels, value: total, metricName: `${name}_count` },
      ];
    });
    return { name, help, type, aggregator, values };
  }

  reset(): void {
    this.#all = [];
  }
}
