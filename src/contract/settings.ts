/** Settings compared, whatever their knobs. */
import type { SettingDocument } from "./plane.ts";

/** Every knob of both has the same value. */
export function isSameSetting(one: SettingDocument, other: SettingDocument): boolean {
  return Object.keys({ ...one, ...other }).every((knob) => one[knob] === other[knob]);
}
