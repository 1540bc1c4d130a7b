import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { messageOf } from "@steps/model";
import { ServiceError } from "../service-error.ts";

/** Makes a job's working directory unless it is there. @throws {ServiceError} WORK_DIR_UNUSABLE */
export function prepareWorkDir(workDir: string): void {
  if (!isAbsolute(workDir)) throw unusable(workDir, "it is not absolute");
  try {
    makeDirectories(workDir);
    accessSync(workDir, constants.R_OK | constants.X_OK);
  } catch (cause) {
    throw unusable(workDir, messageOf(cause), cause);
  }
  if (!statSync(workDir).isDirectory()) throw unusable(workDir, "it is not a directory");
}

// Node's own way never comes back from a place that nothing can be made in, such as /proc.
function makeDirectories(path: string): void {
  const missing: string[] = [];
  for (let dir = path; statSync(dir, { throwIfNoEntry: false }) === undefined; dir = dirname(dir)) missing.push(dir);
  for (const dir of missing.toReversed()) {
    try {
      mkdirSync(dir, { mode: 0o700 });
    } catch (cause) {
      // Another job may have made it just now.
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    }
  }
}

function unusable(workDir: string, why: string, cause?: unknown): ServiceError {
  return new ServiceError("WORK_DIR_UNUSABLE", `Cannot use working directory ${JSON.stringify(workDir)}: ${why}`, {
    cause,
  });
}
