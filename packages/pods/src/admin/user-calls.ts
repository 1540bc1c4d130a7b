import {
  type CreateRunnerRequest,
  CREATE_RUNNER_REQUEST,
  REGISTERED_RUNNER,
  RESET_TOKEN,
} from "@steps/runner-api/messages";
import type { Sql } from "../database/database.ts";
import type { Exchange } from "../http/exchange.ts";
import { HttpError } from "../http/http-error.ts";
import { readParameters } from "../http/read-parameters.ts";
import type { Pod } from "../pod/pod.ts";
import { RUNNER_HINT } from "../queue/job-queue.ts";
import { createRunner, type RunnerSettings } from "../runners/create-runner.ts";
import { readSettings } from "../runners/read-settings.ts";
import { revokeToken } from "../runners/reset-token.ts";
import { runnerById, timeOf } from "../runners/runner.ts";

/**
 * `POST /api/v4/user/runners`: creates a runner as [GitLab's API](https://docs.gitlab.com/api/users/#create-a-runner) does, and tells its
 * token, this once. The token of the pod's owner stands for the personal access token.
 */
export async function createUserRunner(pod: Pod, exchange: Exchange): Promise<void> {
  const request = await readParameters(exchange, CREATE_RUNNER_REQUEST);
  const settings = readSettings(request);
  const { id, token, expiresAt } = await pod.database.transaction(
    async (sql) => await createRunner(sql, pod.settings.pod, { ...settings, ...(await scopeOf(sql, request)) }),
  );
  pod.settings.log("info", "A runner was created", { runner: id });
  exchange.json(201, REGISTERED_RUNNER.write({ id, token, token_expires_at: timeOf(expiresAt) }));
}

async function scopeOf(
  sql: Sql,
  { runner_type: kind, group_id: group, project_id: project }: CreateRunnerRequest,
): Promise<Pick<RunnerSettings, "group" | "projects">> {
  if (kind === "instance_type") return {};
  if (kind === "group_type") return { group: await pathOf(sql, "group", group) };
  if (kind === "project_type") return { projects: [await pathOf(sql, "project", project)] };
  throw new HttpError(400, "400 Bad Request: runner_type is instance_type, group_type or project_type");
}

async function pathOf(sql: Sql, kind: "group" | "project", id: number | undefined): Promise<string> {
  if (id === undefined) throw new HttpError(400, `400 Bad Request: ${kind}_id is missing`);
  const [row] = await sql.query<{ path: string }>(`SELECT path FROM ${kind}s WHERE id = $1`, [id]);
  if (row === undefined) throw new HttpError(404, `404 Not Found: there is no ${kind} ${id}`);
  return row.path;
}

/** `POST /api/v4/runners/:id/reset_authentication_token`: gives a runner a new token; the old one counts no more. */
export async function resetTokenOfRunner(pod: Pod, exchange: Exchange, id: number): Promise<void> {
  const fresh = await pod.database.transaction(async (sql) => {
    const runner = await runnerById(sql, id);
    return runner && (await revokeToken(sql, pod.settings.pod, runner));
  });
  if (fresh === undefined) throw new HttpError(404, `404 Not Found: there is no runner ${id}`);
  pod.database.hint(`${RUNNER_HINT}${id}`);
  pod.settings.log("info", "The token of a runner was replaced by its owner", { runner: id });
  exchange.json(201, RESET_TOKEN.write({ token: fresh.token, token_expires_at: timeOf(fresh.expiresAt) }));
}
