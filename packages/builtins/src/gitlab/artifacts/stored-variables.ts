import { NAME_PATTERN } from "@steps/model/definition";
import { entryPath, openEntry } from "../store/entry-store.ts";
import { isExpired } from "./expiry.ts";
import { readVariables } from "./artifact-store.ts";

/**
 * The variables that jobs have kept with `gitlab/report-dotenv`; of several jobs the last wins. Those whose names begin with a digit
 * are left out.
 *
 * @param artifactsDir - The folder in which jobs keep their artifacts: absolute.
 * @throws {BuiltinError} BUILTIN_FAILED for a store that is malformed
 */
export function storedVariables(artifactsDir: string, jobs: readonly string[]): ReadonlyMap<string, string> {
  const found = jobs.flatMap((job) => {
    const entry = openEntry(entryPath(artifactsDir, job));
    return entry === undefined || isExpired(entry.metadata) ? [] : Object.entries(readVariables(entry.dir));
  });
  return new Map(found.filter(([name]) => NAME_PATTERN.test(name)));
}
