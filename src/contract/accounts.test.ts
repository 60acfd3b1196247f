import { expect, test } from "vitest";
import { noAccount, sumAccounts, utilisationOf } from "./index.ts";

test("accounts of several tasks are summed name by name", () => {
  const pods = { steps: 1, violations: 2, cost: 3, sums: { cpuUsed: 4, cpuGranted: 5 } };
  const queue = { steps: 1, violations: 0, cost: 1, sums: { drained: 6 } };
  expect(sumAccounts([pods, queue, pods])).toEqual({
    steps: 3,
    violations: 4,
    cost: 7,
    sums: { cpuUsed: 8, cpuGranted: 10, drained: 6 },
  });
  expect(sumAccounts([])).toEqual(noAccount);
});

test("utilisation is what was used over what was granted, of whatever has both sums", () => {
  const sums = {
    cpuUsed: 60,
    cpuGranted: 100,
    llcGranted: 10,
    llcUsed: 5,
    ioUsed: 0,
    ioGranted: 0,
    rateUsed: 7,
    drained: 1,
  };
  expect(utilisationOf({ ...noAccount, sums })).toEqual({ cpu: 0.6, llc: 0.5, io: null });
});
