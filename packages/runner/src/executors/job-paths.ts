import { isAbsolute, posix } from "node:path";
import { RunnerError } from "../runner-error.ts";
import type { PlacedJob } from "./executor.ts";

/** The project's folder below the one for all: its path, whose parts no server may choose to lead elsewhere. */
export function projectPath({ payload }: Pick<PlacedJob, "payload">): string {
  const { project_full_path: path, project_id: id } = payload.job_info;
  const given = path !== "" ? path : variableOf(payload, "CI_PROJECT_PATH");
  const parts = given.split("/").filter((part) => part !== "");
  const isPlain = parts.length > 0 && parts.every((part) => /^[\p{L}\p{N}_.+ -]+$/u.test(part) && !/^\.+$/u.test(part));
  return isPlain ? posix.join(...parts) : `project-${id}`;
}

/** A folder from the configuration. @throws {RunnerError} CONFIG_INVALID for a path that is not absolute */
export function absoluteFolder(name: string, path: string): string {
  if (isAbsolute(path)) return path.replace(/(?<=.)\/+$/u, "");
  throw new RunnerError("CONFIG_INVALID", `${name} is "${path}", and must be an absolute path`);
}

/** The folder that all jobs of one runner in one slot share: `builds/ab12cd34/0`. */
export function slotPath({ config, slot }: Pick<PlacedJob, "config" | "slot">): string {
  return posix.join(shortToken(config.token), String(slot));
}

/** The part of a token that may be shown: the eight letters after its prefix. */
export function shortToken(token: string): string {
  return token
    .replace(/^gl[a-z]+-/u, "")
    .replace(/^t\d_/u, "")
    .slice(0, 8)
    .replaceAll(/[^\w-]/gu, "_");
}

function variableOf({ variables }: PlacedJob["payload"], name: string): string {
  return variables.findLast(({ key }) => key === name)?.value ?? "";
}
