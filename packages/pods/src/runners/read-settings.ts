import type { CreateRunnerRequest, RegisterRequest } from "@steps/runner-api/messages";
import { HttpError } from "../http/http-error.ts";
import type { RunnerSettings } from "./create-runner.ts";

const MAX_TIMEOUT = 2 ** 31 - 1;

/**
 * The settings of a new runner in the words of GitLab's API. A runner takes jobs without tags unless it says otherwise.
 *
 * @throws {HttpError} 400 for a runner that would take no job at all, or with a timeout that nobody has
 */
export function readSettings(
  request: Omit<RegisterRequest, "token" | "info"> | Omit<CreateRunnerRequest, "runner_type">,
): Omit<RunnerSettings, "projects" | "group"> {
  const named = (request.tag_list ?? "").split(",").map((tag) => tag.trim());
  const tags = named.filter((tag) => tag !== "");
  const { run_untagged: runUntagged = true, maximum_timeout: maximumTimeout = 0 } = request;
  if (!runUntagged && tags.length === 0)
    throw new HttpError(400, "400 Bad Request: tag_list cannot be empty for a runner without run_untagged");
  if (maximumTimeout > MAX_TIMEOUT)
    throw new HttpError(400, `400 Bad Request: maximum_timeout is at most ${MAX_TIMEOUT} seconds`);
  return {
    description: request.description,
    maintenanceNote: request.maintenance_note,
    tags,
    runUntagged,
    isLocked: request.locked,
    isProtected: request.access_level === "ref_protected",
    isPaused: request.paused,
    maximumTimeout: maximumTimeout === 0 ? undefined : maximumTimeout,
  };
}
