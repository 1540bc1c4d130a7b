import type { RunnerApi } from "@steps/runner-api/client";
import type { RunnerConfig } from "../config/runner-config.ts";
import { refusal } from "./register-runner.ts";

/** The part of its life after which a token is exchanged, as gitlab-runner has it. */
const ROTATE_AT = 0.75;

/** When the token of a runner is to be exchanged; `undefined`: never. */
export function rotationTime({ token_obtained_at: from, token_expires_at: to }: RunnerConfig): number | undefined {
  const [obtained, expires] = [Date.parse(from), Date.parse(to ?? "")];
  if (Number.isNaN(expires)) return undefined;
  // A token of unknown age is exchanged at once.
  if (Number.isNaN(obtained) || obtained >= expires) return 0;
  return obtained + (expires - obtained) * ROTATE_AT;
}

/** Exchanges the token of a runner. @throws {RunnerError} TOKEN_REFUSED, SERVER_REFUSED @throws {RunnerClientError} */
export async function rotateToken(config: RunnerConfig, api: Pick<RunnerApi, "resetToken">): Promise<RunnerConfig> {
  const answer = await api.resetToken(config.token);
  if (answer.reset === undefined) throw refusal(`The token of "${config.name}" cannot be exchanged`, answer);
  const { token, token_expires_at: expires } = answer.reset;
  return { ...config, token, token_obtained_at: new Date().toISOString(), token_expires_at: expires ?? undefined };
}
