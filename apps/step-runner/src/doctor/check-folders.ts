import { accessSync, constants, existsSync, mkdtempSync, readdirSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Engine } from "@steps/engine";
import { describeFolderError } from "@steps/platform";
import type { Finding } from "./finding.ts";

const MIB = 1_048_576;

/** Says whether the folders of the user can be written to, and what is in them. Leaves none behind that was not there. */
export async function checkFolders(engine: Engine, cacheDir: string): Promise<readonly Finding[]> {
  return [await checkCache(engine, cacheDir), checkState(engine.stateDir)];
}

async function checkCache(engine: Engine, dir: string): Promise<Finding> {
  const problem = writeProblem(dir);
  if (problem !== undefined)
    return {
      name: "cache",
      state: "problem",
      found: `${dir}: ${problem}`,
      meaning: "No component can be fetched; --cache-dir names another folder.",
    };
  const entries = existsSync(dir) ? await engine.cache.list() : [];
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  const found = `${dir}, ${entries.length} components, ${(bytes / MIB).toFixed(1)} MiB`;
  const meaning =
    entries.length === 0 ? "Every component is fetched when it is first named." : "These components need no network.";
  return { name: "cache", state: "ok", found, meaning };
}

function checkState(dir: string): Finding {
  const problem = writeProblem(dir);
  if (problem !== undefined)
    return {
      name: "state",
      state: "problem",
      found: `${dir}: ${problem}`,
      meaning: "No run can be recorded, so none can begin; --state-dir names another folder.",
    };
  const runs = join(dir, "runs");
  const count = existsSync(runs) ? readdirSync(runs).length : 0;
  return {
    name: "state",
    state: "ok",
    found: `${dir}, ${count} runs`,
    meaning: "Runs are recorded here, with their logs.",
  };
}

/** The reason for which nothing can be written to a folder, which need not exist. */
function writeProblem(dir: string): string | undefined {
  let there = dir;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  try {
    accessSync(there, constants.W_OK | constants.X_OK);
    // Root may write everywhere, and yet there are file systems that hold no folders but their own.
    if (there !== dir) rmdirSync(mkdtempSync(join(there, ".step-runner-")));
    return undefined;
  } catch (error) {
    return describeFolderError(error);
  }
}
