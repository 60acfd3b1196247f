/**
 * What accounts come to, whatever their task adds up.
 * Owns: sums of several accounts, and utilisation, which is the sum `<x>Used` over the sum `<x>Granted`. Not here: adding
 * steps to an account (plane/accounts.ts).
 */
import type { Account } from "./plane.ts";

/** Before anything was told. */
export const noAccount: Account = { steps: 0, violations: 0, cost: 0, sums: {} };

export function sumAccounts(accounts: Iterable<Account>): Account {
  const total = { steps: 0, violations: 0, cost: 0 };
  const sums = new Map<string, number>();
  for (const account of accounts) {
    total.steps += account.steps;
    total.violations += account.violations;
    total.cost += account.cost;
    for (const [name, value] of Object.entries(account.sums)) sums.set(name, (sums.get(name) ?? 0) + value);
  }
  return { ...total, sums: Object.fromEntries(sums) };
}

/** By what is used and granted, in the order of the sums; null where nothing was granted yet. */
export function utilisationOf({ sums }: Account): { readonly [name: string]: number | null } {
  const shares = new Map<string, number | null>();
  for (const [sum, used] of Object.entries(sums)) {
    if (!sum.endsWith(USED)) continue;
    const name = sum.slice(0, -USED.length);
    const granted = sums[`${name}Granted`];
    if (granted !== undefined) shares.set(name, granted > 0 ? used / granted : null);
  }
  return Object.fromEntries(shares);
}

const USED = "Used";
