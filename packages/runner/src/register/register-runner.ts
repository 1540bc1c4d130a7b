import { RUNNER_TOKEN_PREFIX } from "@steps/runner-api";
import type { Answer, RunnerApi } from "@steps/runner-api/client";
import type { RegisteredRunner, RegisterRequest } from "@steps/runner-api/messages";
import type { RunnerConfig } from "../config/runner-config.ts";
import { RunnerError } from "../runner-error.ts";
import { runnerInfo } from "../runner-info.ts";

/** A runner that is to be registered, before the server has named it. */
export type NewRunner = Omit<RunnerConfig, "id" | "token" | "token_obtained_at" | "token_expires_at">;

/** The settings of a runner that a server keeps: only a registration token may set them here. */
export type ServerSettings = Omit<RegisterRequest, "token" | "info">;

/** How a runner is registered. */
export interface Registration {
  readonly api: Pick<RunnerApi, "register" | "verify">;
  /** The token of the runner (`glrt-…`), or a registration token. */
  readonly token: string;
  readonly systemId: string;
  readonly settings: ServerSettings;
}

/**
 * Registers a runner: one that was made on the server is looked up by its token, a registration token makes a new one. Gives its
 * configuration. @throws {RunnerError} TOKEN_REFUSED, SERVER_REFUSED, CONFIG_INVALID @throws {RunnerClientError}
 */
export async function registerRunner(runner: NewRunner, registration: Registration): Promise<RunnerConfig> {
  const { api, token, systemId, settings } = registration;
  const info = runnerInfo(runner);
  if (!token.startsWith(RUNNER_TOKEN_PREFIX)) {
    const answer = await api.register({ ...settings, token, info });
    if (answer.runner === undefined) throw refusal("The runner cannot be registered", answer);
    return withToken(runner, answer.runner);
  }
  const [set] = Object.keys(settings).filter((key) => settings[key as keyof ServerSettings] !== undefined);
  if (set !== undefined) {
    throw new RunnerError("CONFIG_INVALID", `"${set}" belongs to the server for a runner that was created there`, {
      hint: "Change it on the server, and register with the token alone.",
    });
  }
  const answer = await api.verify({ token, system_id: systemId, info });
  if (answer.runner === undefined) throw refusal("The runner cannot be registered", answer);
  return withToken(runner, { ...answer.runner, token });
}

function withToken(runner: NewRunner, { id, token, token_expires_at: expires }: RegisteredRunner): RunnerConfig {
  const obtained = new Date().toISOString();
  return { ...runner, id, token, token_obtained_at: obtained, token_expires_at: expires ?? undefined };
}

/** The error for a server that says no. */
export function refusal(what: string, { status, message }: Pick<Answer, "status" | "message">): RunnerError {
  const said = message === undefined ? "" : `: ${message}`;
  if (status === 403) return new RunnerError("TOKEN_REFUSED", `${what}: the server does not accept the token${said}`);
  const hint =
    status === 410 ? "Registration tokens are switched off there: create the runner on the server." : undefined;
  return new RunnerError("SERVER_REFUSED", `${what}: the server answered ${status}${said}`, { hint });
}
