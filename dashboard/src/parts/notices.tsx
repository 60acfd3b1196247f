/** What came of a command, said once and read out; it goes by itself. */
import { signal } from "@preact/signals";
import type { ComponentChild } from "preact";

const notice = signal("");
const SHOWN_MS = 6_000;
let leaving: ReturnType<typeof setTimeout> | undefined;

export function say(text: string): void {
  notice.value = text;
  clearTimeout(leaving);
  leaving = setTimeout(() => {
    notice.value = "";
  }, SHOWN_MS);
}

export function Notices(): ComponentChild {
  return (
    <div class={notice.value === "" ? "toast" : "toast shown"} role="status">
      {notice.value}
    </div>
  );
}
