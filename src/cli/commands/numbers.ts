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

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value) || value <= 0) {
    throw new InvalidArgumentError("expected a number above 0.");
  }
  return value;
}

export const wholeNumberUpTo =
  (most: number) =>
  (text: string): number => {
    const value = wholeFrom(text, 1);
    if (value > most) throw new InvalidArgumentError(`expected a whole number from 1 to ${most}.`);
    return value;
  };

export function portNumber(text: string): number {
  const value = wholeFrom(text, 0);
  if (value > 65_535) throw new InvalidArgumentError("expected a port from 0 to 65535.");
  return value;
}

export function shareFromZeroToOne(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 1)) {
    throw new InvalidArgumentError("expected a number from 0 to 1.");
  }
  return value;
}
