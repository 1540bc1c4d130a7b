import { isAbsolute, resolve } from "node:path";
import { ServiceError } from "../service-error.ts";

/**
 * Refuses what no process can be started with: a name that is empty or holds `=`, a NUL anywhere. Everything else is a
 * variable, `BASH_FUNC_x%%` too.
 *
 * @throws {ServiceError} REQUEST_INVALID
 */
export function assertEnvironment(field: string, env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (name === "" || /[=\0]/.test(name))
      throw new ServiceError("REQUEST_INVALID", `${field}: "${name.slice(0, 100)}" cannot be the name of a variable`);
    if (value.includes("\0"))
      throw new ServiceError("REQUEST_INVALID", `${field}: the value of "${name.slice(0, 100)}" holds a NUL character`);
  }
}

/** @throws {ServiceError} REQUEST_INVALID for a path that is not absolute */
export function readWorkDir(given: string, fallback: string): string {
  if (given !== "" && !isAbsolute(given))
    throw new ServiceError("REQUEST_INVALID", `work_dir: "${given.slice(0, 200)}" is not an absolute path`);
  return resolveWorkDir(given, fallback);
}

/** A path as GitLab's service takes it: from the service's own directory. @throws {ServiceError} REQUEST_INVALID */
export function resolveWorkDir(given: string, serviceDir: string): string {
  if (given.includes("\0"))
    throw new ServiceError("REQUEST_INVALID", `work_dir: "${given.slice(0, 200)}" holds a NUL character`);
  return resolve(serviceDir, given);
}
