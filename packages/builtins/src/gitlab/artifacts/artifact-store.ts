import { createReadStream, createWriteStream, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Value } from "@steps/model";
import type { ZipSource } from "@steps/transfer/archive";
import { objectOf, optionalText } from "../gitlab-step.ts";

/** The files in the folder of a job's artifacts. */
export const ARTIFACT_FILES = {
  archive: "artifacts.zip",
  dotenv: "dotenv.json",
  reports: "reports",
  release: "release.json",
} as const;

/**
 * Copies the files of one type of report below the folder of a job's artifacts, packed by gzip or as they are. Gives their
 * paths in that folder.
 */
export async function storeReport(
  dir: string,
  type: string,
  options: { readonly files: readonly ZipSource[]; readonly isPacked: boolean },
): Promise<string[]> {
  const stored: string[] = [];
  for (const { name, path } of options.files.filter((file) => file.type === "file")) {
    const target = join(ARTIFACT_FILES.reports, type, options.isPacked ? `${name}.gz` : name);
    mkdirSync(join(dir, dirname(target)), { recursive: true, mode: 0o700 });
    if (options.isPacked) await pipeline(createReadStream(path), createGzip(), createWriteStream(join(dir, target)));
    else await copyFile(path, join(dir, target));
    stored.push(target);
  }
  return stored;
}

/** Writes the variables of a dotenv report into the folder of a job's artifacts, in place of those that are there. */
export function storeVariables(dir: string, variables: Readonly<Record<string, string>>): void {
  const path = join(dir, ARTIFACT_FILES.dotenv);
  // The file that is there may be the same as that of the entry which is being replaced.
  rmSync(path, { force: true });
  writeFileSync(path, `${JSON.stringify(variables)}\n`, { mode: 0o600 });
}

/** The variables in the folder of a job's artifacts. @throws {BuiltinError} BUILTIN_FAILED for what is no such file */
export function readVariables(dir: string): Readonly<Record<string, string>> {
  let text: string;
  try {
    text = readFileSync(join(dir, ARTIFACT_FILES.dotenv), "utf8");
  } catch {
    // The job has no such report.
    return {};
  }
  const variables = objectOf(JSON.parse(text) as Value, ARTIFACT_FILES.dotenv);
  return Object.fromEntries(Object.keys(variables).map((name) => [name, optionalText(variables, name)]));
}
