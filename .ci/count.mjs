/** Sums the steps' exit codes and the suites' JSON reports into the last line, `N passed, N failed`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2] ?? "artifacts/ci";
let passed = 0;
let failed = 0;
for (const file of readdirSync(folder).sort()) {
  const text = () => readFileSync(join(folder, file), "utf8");
  if (file.endsWith(".status")) {
    if (text().trim() === "0") passed += 1;
    else failed += 1;
  } else if (file.endsWith(".json")) {
    try {
      const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(text());
      passed += numPassedTests;
      failed += numFailedTests;
      console.log(`${file.replace(".json", "")}: ${numPassedTests} tests passed, ${numFailedTests} failed`);
      if (numPendingTests > 0) {
        console.log(`${file.replace(".json", "")}: ${numPendingTests} tests did not run`);
        failed += numPendingTests;
      }
    } catch {
      console.log(`${file}: not a test report`);
      failed += 1;
    }
  }
}
if (passed === 0) failed += 1;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
