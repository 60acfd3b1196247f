/** The text of an answer as long as it is not too long: what a server may send has no end. */

/** Undefined where there are more bytes than allowed; the rest is not read then. */
export async function readBounded(response: Response, mostBytes: number): Promise<string | undefined> {
  const { body } = response;
  if (body === null) return "";
  if (Number(response.headers.get("content-length") ?? 0) > mostBytes) {
    await body.cancel();
    return undefined;
  }
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  // Leaving the loop cancels the stream.
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
