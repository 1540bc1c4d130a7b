// npm test: sets up, then runs every test whose programs are installed, and names in one line what it had to skip.
// With STEPS_REQUIRE_ALL=1 a missing program is a failure: CI installs them all.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environment, root, setUp } from "./setup.mjs";

setUp();
const scratch = mkdtempSync(join(tmpdir(), "steps-test-"));
const report = join(scratch, "report.json");
const skipped = join(scratch, "skipped");
const args = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...process.argv.slice(2)];
try {
  const done = spawnSync(join(root, "node_modules", ".bin", "vitest"), args, {
    cwd: root,
    stdio: "inherit",
    env: { ...environment, STEPS_SKIPPED_FILE: skipped, NODE_COMPILE_CACHE: join(scratch, "code") },
  });
  const result = existsSync(report)
    ? JSON.parse(readFileSync(report, "utf8"))
    : { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0 };
  const reasons = existsSync(skipped) ? [...new Set(readFileSync(skipped, "utf8").split("\n").filter(Boolean))] : [];
  if (reasons.length > 0) process.stdout.write(`skipped, not installed: ${reasons.join(", ")}\n`);
  const isWhole = process.argv.length === 2;
  if (isWhole && process.env["STEPS_LONG"] !== "1")
    process.stdout.write(`left to .ci/run: ${countLong()} long files (STEPS_LONG=1 runs them)\n`);
  const { numPassedTests, numFailedTests, numPendingTests } = result;
  process.stdout.write(`tests: ${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped\n`);
  const isIncomplete = process.env["STEPS_REQUIRE_ALL"] === "1" && (numPendingTests > 0 || reasons.length > 0);
  if (isIncomplete) process.stdout.write("not complete: every test has to run here\n");
  process.exitCode = done.status === 0 && !isIncomplete ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function countLong() {
  const folders = ["apps", "packages"].flatMap((room) =>
    readdirSync(join(root, room)).map((name) => join(root, room, name, "test")),
  );
  const files = folders.flatMap((folder) => (existsSync(folder) ? readdirSync(folder, { recursive: true }) : []));
  return files.filter((name) => name.endsWith(".long.test.ts")).length;
}
