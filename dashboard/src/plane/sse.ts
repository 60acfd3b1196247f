/**
 * Server-sent events out of a stream of text. Its own reader instead of EventSource, which cannot send the bearer token
 * that every address but loopback asks for.
 * Owns: the wire format. Pure.
 */
export interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

export class EventParser {
  #rest = "";
  #name = "";
  #data: string[] = [];

  /** The events that this piece completes, in order. */
  take(piece: string): readonly ServerEvent[] {
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    const events: ServerEvent[] = [];
    for (const line of lines) {
      if (line === "") {
        if (this.#data.length > 0) events.push({ name: this.#name || "message", data: this.#data.join("\n") });
        this.#name = "";
        this.#data = [];
      } else this.#field(line);
    }
    return events;
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.#name = value;
    else if (name === "data") this.#data.push(value);
  }
}
