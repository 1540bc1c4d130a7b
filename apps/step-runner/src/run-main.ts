import { runProgram } from "@steps/console";
import { compileAfterStart, hasStuckThread } from "@steps/platform/runtime";
import type { Start } from "./bootstrap/start.ts";
import { leavePackageManager } from "./environment/user-environment.ts";
import { program } from "./program.ts";

/** Runs what the arguments name and gives its exit code. Ends the process itself where it would never end otherwise. */
export async function runMain(start: Start): Promise<number> {
  const code = await runStarted(start);
  // All output was waited for.
  if (hasStuckThread()) process.exit(code);
  return code;
}

async function runStarted(start: Start): Promise<number> {
  compileAfterStart();
  leavePackageManager(process.env);
  if (start.launcher !== undefined) {
    const [{ trustCertificates }, { useTemporaryState }] = await Promise.all([
      import("./bootstrap/certificates.ts"),
      import("./bootstrap/temporary-state.ts"),
    ]);
    trustCertificates(start.launcher);
    useTemporaryState(process.env);
  }
  if (start.name === "step-runner") return runProgram(program, start.args);
  return (await import("./bootstrap/run-helper.ts")).runHelper(program, start);
}
