/** The first live sample of a running control plane, as a browser would get it. */

/** Resolves with `performance.now()` when the stream has brought a measured step of a workload. */
export async function firstSample(url: string, signal: AbortSignal): Promise<number> {
  const closing = new AbortController();
  const response = await fetch(new URL("/v1/stream", url), { signal: AbortSignal.any([signal, closing.signal]) });
  if (!response.ok || response.body === null) throw new Error(`/v1/stream answered ${response.status}`);
  let text = "";
  const decoder = new TextDecoder();
  try {
    for await (const part of response.body) {
      text += decoder.decode(part as Uint8Array, { stream: true });
      const messages = text.split("\n\n");
      text = messages.pop() ?? "";
      if (messages.some(hasSample)) return performance.now();
    }
  } finally {
    closing.abort();
  }
  throw new Error("/v1/stream ended before a sample came");
}

/** A snapshot in which some workload has been measured, or updates with samples among them. */
export function hasSample(message: string): boolean {
  const data = message
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5))
    .join("\n");
  if (data === "") return false;
  return /"kind":"samples"/.test(data) || /"now":\{/.test(data);
}
