import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { isStepsError } from "@steps/model";
import { DEFAULT_FILES } from "@steps/model/reference";
import { isInside } from "@steps/platform";
import { EngineError } from "./engine-error.ts";

/** A step file on disk. */
export interface StepFile {
  /** Absolute folder of the file. */
  readonly dir: string;
  readonly file: string;
  readonly content: Uint8Array;
  /** The other default file in the same folder, which was not taken. */
  readonly shadowed: string | undefined;
}

const MAX_STEP_FILE_BYTES = 4 * 1024 * 1024;

/**
 * Reads the step file of a folder: `file`, or the first of the default names.
 *
 * @throws {EngineError} STEP_NOT_FOUND; REFERENCE_INVALID if the file lies outside `root`
 */
export function findStepFile(dir: string, file: string | undefined, root: string | undefined): StepFile {
  const found = (file === undefined ? DEFAULT_FILES : [file]).filter((name) => existsSync(join(dir, name)));
  const chosen = found[0];
  if (chosen === undefined) throw notFound(dir, file, root);
  const path = join(dir, chosen);
  if (root !== undefined) assertInside(root, path);
  const stat = statSync(path);
  if (!stat.isFile()) throw new EngineError("STEP_NOT_FOUND", `Cannot read step file "${path}": it is not a file`);
  if (stat.size > MAX_STEP_FILE_BYTES) {
    throw new EngineError(
      "STEP_NOT_FOUND",
      `Cannot read step file "${path}": it has ${stat.size} bytes, more than ${MAX_STEP_FILE_BYTES}`,
    );
  }
  return {
    dir,
    file: chosen,
    content: readFileSync(path),
    shadowed: found.find((name) => name.slice(0, 4) !== chosen.slice(0, 4)),
  };
}

/** Whether an error says that there is no step file, rather than that one is wrong. */
export function isStepNotFound(error: unknown): boolean {
  return isStepsError(error, "STEP_NOT_FOUND");
}

/** Refuses a path that leads out of a component, also by links. @throws {EngineError} REFERENCE_INVALID */
export function assertInside(root: string, path: string): void {
  if (isInside(root, path)) return;
  throw new EngineError("REFERENCE_INVALID", `Cannot use "${path}": it is outside its component`);
}

function notFound(dir: string, file: string | undefined, root: string | undefined): EngineError {
  const shown = root === undefined ? dir : relative(root, dir) || ".";
  const isFolder = existsSync(dir) && lstatSync(dir).isDirectory();
  const wanted = file ?? DEFAULT_FILES.join(", ");
  const message = isFolder
    ? `Cannot find a step in "${shown}": it has no ${wanted}`
    : `Cannot find a step in "${shown}": there is no such folder`;
  const isAction = ["action.yml", "action.yaml"].some((name) => existsSync(join(dir, name)));
  return new EngineError("STEP_NOT_FOUND", message, {
    hint:
      isAction && file === undefined
        ? "There is a GitHub action in it, which is named with action: or uses:."
        : undefined,
  });
}
