/** OpenWhisk: action limits out, activation records in. */

export type { OpenWhiskBounds } from "./limits.ts";
export type { OpenWhiskOptions } from "./options.ts";
export type { FixedKnob, OpenWhisk } from "./platform.ts";
export { openWhisk } from "./platform.ts";
