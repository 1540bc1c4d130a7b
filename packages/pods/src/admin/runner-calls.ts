import { DAEMON_NUMBER } from "@steps/pod-tokens";
import type { Exchange } from "../http/exchange.ts";
import { HttpError } from "../http/http-error.ts";
import type { RunnerHome } from "../pod/pod.ts";
import { PATH_PATTERN } from "../projects/ensure-project.ts";
import { RUNNER_HINT } from "../queue/job-queue.ts";
import { changeRunner, type RunnerChange } from "../runners/change-runner.ts";
import { createRunner, type RunnerSettings } from "../runners/create-runner.ts";
import { listRunners } from "../runners/list-runners.ts";
import { readJson } from "./read-json.ts";

const MAX_BYTES = 64 * 1024;

/** The settings of a new runner, as `POST /runners` of the admin API has them. Times are seconds. */
export interface NewRunner {
  readonly projects?: readonly string[] | undefined;
  readonly group?: string | undefined;
  readonly description?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly run_untagged?: boolean | undefined;
  readonly locked?: boolean | undefined;
  readonly protected?: boolean | undefined;
  readonly paused?: boolean | undefined;
  readonly maximum_timeout?: number | undefined;
  readonly token_lifetime?: number | undefined;
}

/** `POST /runners`: creates a runner and tells its token, this once. */
export async function postRunner(pod: RunnerHome, exchange: Exchange): Promise<void> {
  const request = checkRunner(await readJson(exchange, MAX_BYTES)) as NewRunner;
  const isOfAll = request.group === undefined && (request.projects ?? []).length === 0;
  if (pod.settings.pod === DAEMON_NUMBER && !isOfAll)
    throw new HttpError(400, "A runner of a group or of projects is created at their pod, not at the daemon");
  const settings: RunnerSettings = {
    projects: request.projects,
    group: request.group,
    description: request.description,
    tags: request.tags,
    runUntagged: request.run_untagged,
    isLocked: request.locked,
    isProtected: request.protected,
    isPaused: request.paused,
    maximumTimeout: request.maximum_timeout,
    tokenLifetime: request.token_lifetime,
  };
  const { id, token } = await pod.database.transaction(
    async (sql) => await createRunner(sql, pod.settings.pod, settings),
  );
  pod.settings.log("info", "A runner was created", { runner: id });
  const [runner] = await listRunners(pod.database, id);
  exchange.json(201, { ...runner, token });
}

/** `GET /runners`. */
export async function getRunners(pod: RunnerHome, exchange: Exchange): Promise<void> {
  exchange.json(200, await listRunners(pod.database));
}

/** `PATCH /runners/:id`: changes what the request names. */
export async function patchRunner(pod: RunnerHome, exchange: Exchange, id: number): Promise<void> {
  const change = checkRunner(await readJson(exchange, MAX_BYTES)) as RunnerChange;
  const outcome = await pod.database.transaction(async (sql) => await changeRunner(sql, id, change));
  if (outcome === "unknown") throw new HttpError(404, `There is no runner ${id}`);
  if (outcome === "locked") throw new HttpError(409, `Runner ${id} is locked to its projects`);
  if (outcome === "kind") throw new HttpError(409, `Runner ${id} is not one of projects`);
  pod.database.hint(`${RUNNER_HINT}${id}`);
  const [runner] = await listRunners(pod.database, id);
  exchange.json(200, runner);
}

/** `DELETE /runners/:id`: removes a runner. Jobs that it has go on. */
export async function deleteRunner(pod: RunnerHome, exchange: Exchange, id: number): Promise<void> {
  const removed = await pod.database.query("DELETE FROM runners WHERE id = $1 RETURNING id", [id]);
  if (removed.length === 0) throw new HttpError(404, `There is no runner ${id}`);
  pod.database.hint(`${RUNNER_HINT}${id}`);
  exchange.empty(204);
}

const isText = (value: unknown): boolean => typeof value === "string" && value.length <= 1000 && !value.includes("\0");
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const isSeconds = (value: unknown): boolean =>
  value === null || (Number.isSafeInteger(value) && Number(value) > 0 && Number(value) < 2 ** 31);
const isPath = (value: unknown): boolean => typeof value === "string" && PATH_PATTERN.test(value);
const isList =
  (isItem: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.length <= 1000 && value.every(isItem);
const isTag = (value: unknown): boolean => isText(value) && value !== "";

const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  projects: isList(isPath),
  group: isPath,
  add_project: isPath,
  description: isText,
  tags: isList(isTag),
  run_untagged: isFlag,
  locked: isFlag,
  protected: isFlag,
  paused: isFlag,
  maximum_timeout: isSeconds,
  token_lifetime: isSeconds,
};

function checkRunner(value: unknown): object {
  if (typeof value !== "object" || value === null) throw new HttpError(400, "A runner is an object");
  for (const [name, given] of Object.entries(value)) {
    const isRight = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    if (isRight === undefined) throw new HttpError(400, `${name}: a runner has no such setting`);
    if (!isRight(given)) throw new HttpError(400, `${name}: the value is not one that it can have`);
  }
  return value;
}
