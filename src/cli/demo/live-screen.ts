/** A block of text that is drawn over itself; whatever happens, the cursor comes back. */

import type { Shell } from "../shell.ts";

export class LiveScreen {
  readonly #shell: Shell;
  #height = 0;

  constructor(shell: Shell) {
    this.#shell = shell;
    shell.stdout.write("\u001b[?25l");
  }

  draw(text: string): void {
    const lines = text.split("\n");
    const back = this.#height > 0 ? `\u001b[${this.#height}A\r` : "";
    this.#shell.stdout.write(`${back}${lines.map((line) => `\u001b[K${line}`).join("\n")}\n\u001b[J`);
    this.#height = lines.length;
  }

  /** What was drawn stays; the next drawing begins below it. */
  keep(): void {
    this.#height = 0;
  }

  close(): void {
    this.#shell.stdout.write("\u001b[?25h");
  }
}
