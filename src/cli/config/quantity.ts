/**
 * Amounts of CPU and memory as Kubernetes writes them: 250m, 1.5, 512Mi, 2G.
 * Owns: text or number to whole millicores and bytes.
 */
import { z } from "zod";
import type { Bytes, Millicores } from "../../base/index.ts";
import { bytes, millicores } from "../../base/index.ts";

const decimal = /^(?<amount>\d+(?:\.\d+)?)(?<suffix>[A-Za-z]*)$/;

const cpuSuffixes: Readonly<Record<string, number>> = { "": 1000, m: 1 };
const memorySuffixes: Readonly<Record<string, number>> = {
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Undefined where it is not an amount, less than one unit, or not a whole number of them. */
function wholeUnits(value: string | number, suffixes: Readonly<Record<string, number>>): number | undefined {
  const { amount, suffix = "" } = decimal.exec(String(value))?.groups ?? {};
  const factor = Object.hasOwn(suffixes, suffix) ? suffixes[suffix] : undefined;
  if (amount === undefined || factor === undefined) return undefined;
  const whole = Math.round(Number(amount) * factor);
  // 0.1 · 1000 is 100.00000000000001: what is meant is a whole number, and a hair beside it is one.
  if (whole < 1 || !Number.isSafeInteger(whole) || Math.abs(whole - Number(amount) * factor) > 1e-6) return undefined;
  return whole;
}

function quantity<T extends number>(
  suffixes: Readonly<Record<string, number>>,
  { make, message }: { readonly make: (n: number) => T; readonly message: string },
) {
  return z.union([z.string(), z.number()], message).transform((value, context): T => {
    const whole = wholeUnits(value, suffixes);
    if (whole !== undefined) return make(whole);
    context.addIssue({ code: "custom", message: `${message}, found '${value}'` });
    return z.NEVER;
  });
}

export const cpuQuantity = quantity<Millicores>(cpuSuffixes, {
  make: millicores,
  message: "must be CPU in cores or millicores, such as 1.5 or 250m",
});

export const memoryQuantity = quantity<Bytes>(memorySuffixes, {
  make: bytes,
  message: "must be memory in bytes, or with a unit such as 512Mi or 2G",
});
