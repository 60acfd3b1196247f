/** `coxswain/otlp`: receiving spans. */

export { openSpanReceiver } from "../adapters/otlp/index.ts";
