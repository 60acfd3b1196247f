/**
 * Sums the steps' exit codes and the suites' JSON reports into the last line, `N passed, N failed`. What failed is named
 * right above it, with the beginning of its reason: of a long output the end is what people still see.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const LINES_OF_A_REASON = 12;

const folder = process.argv[2] ?? "artifacts/ci";
let passed = 0;
let failed = 0;
const failures = [];
for (const file of readdirSync(folder).sort()) {
  const text = () => readFileSync(join(folder, file), "utf8");
  if (file.endsWith(".status")) {
    if (text().trim() === "0") passed += 1;
    else {
      failed += 1;
      failures.push(`step ${file.replace(".status", "")}: exit code ${text().trim()}`);
    }
  } else if (file.endsWith(".json")) {
    const suite = file.replace(".json", "");
    try {
      const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(text());
      passed += numPassedTests;
      failed += numFailedTests;
      console.log(`${suite}: ${numPassedTests} tests passed, ${numFailedTests} failed`);
      if (numPendingTests > 0) {
        console.log(`${suite}: ${numPendingTests} tests did not run`);
        failed += numPendingTests;
      }
      failures.push(...testResults.flatMap((result) => failuresOf(suite, result)));
    } catch {
      console.log(`${file}: not a test report`);
      failed += 1;
    }
  }
}
if (passed === 0) failed += 1;
for (const failure of failures) console.log(`failed: ${failure}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** A file can fail as a whole, too: one that does not load, or whose preparation throws. */
function failuresOf(suite, { name, status, message, assertionResults }) {
  const tests = assertionResults.filter((test) => test.status === "failed");
  if (status !== "passed" && tests.length === 0) return [`${suite}: ${name}: ${beginning(message)}`];
  return tests.map((test) => `${suite}: ${test.fullName}: ${beginning(test.failureMessages.join("\n"))}`);
}

function beginning(reason) {
  return reason.split("\n").slice(0, LINES_OF_A_REASON).join("\n    ");
}
