import { existsSync, lstatSync, rmSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { folderProblem, makePrivateFolder } from "@steps/platform";
import { NAME_PATTERN } from "@steps/model/definition";
import { type BuiltinPlace, type Inputs, invalid } from "../../images/builtin-images.ts";
import { optionalText } from "../gitlab-step.ts";

// Shows that the folder is ours to remove.
const MARKER = ".made-by-step-runner";

/** The job's temporary folder: what the input names, else `<project>.tmp`. @throws {BuiltinError} BUILTIN_FAILED */
export function tempFolder(inputs: Inputs, { workDir }: BuiltinPlace): string {
  const named = optionalText(inputs, "tmp_dir");
  if (named !== "" && !isAbsolute(named)) throw invalid(`tmp_dir "${named}" is not absolute`);
  return named === "" ? `${workDir.replace(/\/+$/, "")}.tmp` : named;
}

/** Makes the folder, for its owner alone. @throws {BuiltinError} BUILTIN_FAILED @throws {Error} of the system */
export function makeTempFolder(path: string): void {
  const isNew = makePrivateFolder(path);
  const problem = lstatSync(path).isSymbolicLink() ? "it is a link" : folderProblem(path);
  if (problem !== undefined) throw invalid(`the temporary folder "${path}" cannot be used: ${problem}`);
  if (isNew) writeFileSync(join(path, MARKER), "", { mode: 0o600 });
}

/** Writes a variable to a file that only its owner can read, and gives the path. @throws {BuiltinError} BUILTIN_FAILED */
export function writeVariable(folder: string, name: string, value: string): string {
  if (!NAME_PATTERN.test(name)) throw invalid(`${JSON.stringify(name)} is no name of a variable`);
  const path = join(folder, name);
  rmSync(path, { force: true });
  writeFileSync(path, value, { mode: 0o600, flag: "wx" });
  return path;
}

/** Removes the folder if it was made by `makeTempFolder()`. Gives whether it was. */
export function removeTempFolder(path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true || !existsSync(join(path, MARKER)))
    return false;
  rmSync(path, { recursive: true, force: true });
  return true;
}
