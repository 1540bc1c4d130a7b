import { timingSafeEqual } from "node:crypto";
import { hashToken } from "@steps/pod-tokens";
import {
  MANAGER_REQUEST,
  REGISTER_REQUEST,
  REGISTERED_RUNNER,
  RESET_TOKEN,
  TOKEN_REQUEST,
  VERIFY_REQUEST,
} from "@steps/runner-api/messages";
import type { Exchange } from "../http/exchange.ts";
import { HttpError } from "../http/http-error.ts";
import { readParameters } from "../http/read-parameters.ts";
import type { RunnerHome } from "../pod/pod.ts";
import { RUNNER_HINT } from "../queue/job-queue.ts";
import { createRunner } from "../runners/create-runner.ts";
import { readSettings } from "../runners/read-settings.ts";
import { resetToken } from "../runners/reset-token.ts";
import { timeOf } from "../runners/runner.ts";
import { accessRunner } from "./runner-access.ts";

/** `POST /runners`: registers a runner with the registration token, where the pod has one. */
export async function registerRunner(pod: RunnerHome, exchange: Exchange): Promise<void> {
  const request = await readParameters(exchange, REGISTER_REQUEST);
  const { registrationToken } = pod.settings;
  if (registrationToken === undefined)
    throw new HttpError(410, "410 Gone - registration with a token is not allowed; create a runner instead");
  if (!isSame(request.token, registrationToken)) {
    pod.metrics.add("tokens_refused_total", { kind: "registration" });
    throw new HttpError(403, "403 Forbidden - invalid token supplied");
  }
  const settings = readSettings(request);
  const { id, token, expiresAt } = await pod.database.transaction(
    async (sql) => await createRunner(sql, pod.settings.pod, settings, "glrtr-"),
  );
  pod.settings.log("info", "A runner registered itself", { runner: id });
  exchange.json(201, REGISTERED_RUNNER.write({ id, token, token_expires_at: timeOf(expiresAt) }));
}

/** `POST /runners/verify`: says whether a token is that of a runner. */
export async function verifyRunner(pod: RunnerHome, exchange: Exchange): Promise<void> {
  const request = await readParameters(exchange, VERIFY_REQUEST);
  const { runner, token } = await accessRunner(pod, exchange, request.token);
  if (request.system_id !== undefined)
    await pod.managers.contact(pod.database, runner.id, request.system_id.slice(0, 64), request.info);
  const { id, token_expires_at: expiresAt } = runner;
  exchange.json(200, REGISTERED_RUNNER.write({ id, token, token_expires_at: timeOf(expiresAt) }));
}

/** `DELETE /runners`: removes the runner that asks, with all its machines. */
export async function removeRunner(pod: RunnerHome, exchange: Exchange): Promise<void> {
  const request = await readParameters(exchange, TOKEN_REQUEST);
  const { runner } = await accessRunner(pod, exchange, request.token);
  await pod.database.query("DELETE FROM runners WHERE id = $1", [runner.id]);
  pod.database.hint(`${RUNNER_HINT}${runner.id}`);
  pod.settings.log("info", "A runner was removed", { runner: runner.id });
  exchange.empty(204);
}

/** `DELETE /runners/managers`: forgets one machine of the runner that asks. */
export async function removeManager(pod: RunnerHome, exchange: Exchange): Promise<void> {
  const request = await readParameters(exchange, MANAGER_REQUEST);
  const { runner } = await accessRunner(pod, exchange, request.token);
  if (request.system_id === undefined) throw new HttpError(400, "400 Bad Request: system_id is missing");
  if (!(await pod.managers.remove(pod.database, runner.id, request.system_id)))
    throw new HttpError(404, "404 Runner Manager Not Found");
  exchange.empty(204);
}

/** `POST /runners/reset_authentication_token`: gives the runner that asks a new token. */
export async function resetRunnerToken(pod: RunnerHome, exchange: Exchange): Promise<void> {
  const request = await readParameters(exchange, TOKEN_REQUEST);
  const { runner, token: old } = await accessRunner(pod, exchange, request.token);
  const { token, expiresAt } = await pod.database.transaction(
    async (sql) => await resetToken(sql, pod.settings.pod, runner, old),
  );
  pod.settings.log("info", "The token of a runner was replaced", { runner: runner.id });
  exchange.json(201, RESET_TOKEN.write({ token, token_expires_at: timeOf(expiresAt) }));
}

/** `GET /runners/router/discovery`: there is no other way to jobs than this API. */
export async function discoverRouter(pod: RunnerHome, exchange: Exchange): Promise<void> {
  await accessRunner(pod, exchange);
  throw new HttpError(501, "501 Not Implemented");
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hashToken(one)), Buffer.from(hashToken(other)));
}
