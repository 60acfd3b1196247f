/** Numbers on the command line. */

import { InvalidArgumentError } from "@commander-js/extra-typings";

export const wholeNumber = (text: string): number => wholeFrom(text, 1);
export const wholeNumberOrZero = (text: string): number => wholeFrom(text, 0);

function wholeFrom(text: string, least: number): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isSafeInteger(value) || value < least) {
    throw new InvalidArgumentError(`expected a whole number from ${least} on.`);
  }
  return value;
}
