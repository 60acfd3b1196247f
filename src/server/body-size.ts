/**
 * How large a request may be.
 * Owns: counting a body whose length was not said. Not here: the limit itself (limits.ts), reading it as JSON (endpoint.ts).
 *
 * Hono's own middleware for this copies the request with its constructor, which fails on the light requests of Node's
 * server; those without a length are copied part by part instead.
 */

/** The request, to be read as before; null where it is larger than `most` bytes. */
export async function withinSize(request: Request, most: number): Promise<Request | null> {
  // These have none, and looking for it would make a whole request of a light one: a third of what an answer costs.
  if (request.method === "GET" || request.method === "HEAD") return request;
  const { body, headers } = request;
  if (body === null) return request;
  const length = headers.get("content-length");
  if (length !== null && !headers.has("transfer-encoding")) return Number(length) > most ? null : request;
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) return null;
    parts.push(value);
  }
  const whole = size === 0 ? {} : { body: Buffer.concat(parts) };
  return new Request(request.url, { method: request.method, headers, ...whole });
}
