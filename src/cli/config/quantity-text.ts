/** Amounts of CPU and memory as the text that quantity.ts reads. */
import type { Bytes, Millicores } from "../../base/index.ts";

export const cpuText = (amount: Millicores): string => `${amount}m`;

export function memoryText(amount: Bytes): string | number {
  for (const [unit, size] of [
    ["Gi", 2 ** 30],
    ["Mi", 2 ** 20],
    ["Ki", 2 ** 10],
  ] as const)
    if (amount % size === 0) return `${amount / size}${unit}`;
  return amount;
}
