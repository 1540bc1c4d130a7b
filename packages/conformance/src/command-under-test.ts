import { accessSync, constants } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * The program that `run` and `job` cases start: `STEPS_CONFORMANCE_COMMAND`, words with blanks between them; or
 * `STEP_RUNNER_TEST_COMMAND`, the path that all tests of the command take; or the command that the set-up of this repository has
 * built. @throws {Error} if there is none
 */
export function commandUnderTest(): readonly string[] {
  const given = process.env["STEPS_CONFORMANCE_COMMAND"];
  if (given !== undefined && given.trim() !== "") return given.trim().split(/\s+/);
  const ofTests = process.env["STEP_RUNNER_TEST_COMMAND"];
  if (ofTests !== undefined) return [ofTests];
  const built = fileURLToPath(new URL("../../../node_modules/.bin/step-runner", import.meta.url));
  try {
    accessSync(built, constants.X_OK);
  } catch (cause) {
    throw new Error(`There is no ${built}: run node scripts/setup.mjs, or set STEPS_CONFORMANCE_COMMAND`, { cause });
  }
  return [built];
}
