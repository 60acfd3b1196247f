/** What each of SIMPPO's benchmarks is bound by, as its section 4 lists them; whoever is in doubt measures (control/agents). */

export const functionKinds = ["cpu", "memory", "io"] as const;
export type FunctionKind = (typeof functionKinds)[number];

const kinds: Readonly<Record<string, FunctionKind>> = {
  "Image-Resize": "cpu",
  "Image-Inference": "cpu",
  Primes: "cpu",
  "Sentiment-Anlys": "cpu",
  "HTML-Gen": "cpu",
  Base64: "memory",
  Markdown2HTML: "memory",
  "Page-Rank": "memory",
  "Graph-BFT": "memory",
  "Graph-MST": "memory",
  Uploader: "io",
  Compression: "io",
};

/** By the profile's name; one that the paper does not know is taken to be bound by CPU. */
export const functionKind = (profile: string): FunctionKind => kinds[profile] ?? "cpu";
