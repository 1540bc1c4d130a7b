import { tokenFingerprint } from "@steps/pod-tokens";
import { tokensOf } from "@steps/runner-api";
import { HttpError } from "../http/http-error.ts";
import type { Exchange } from "../http/exchange.ts";
import type { RunnerHome } from "../pod/pod.ts";
import { findRunner, type Runner } from "../runners/runner.ts";

/** Finds the runner that asks. @throws {HttpError} 403 when no token is that of a runner */
export async function accessRunner(
  pod: RunnerHome,
  exchange: Exchange,
  bodyToken?: string,
): Promise<{ readonly runner: Runner; readonly token: string }> {
  const tokens = tokensOf(exchange.headers, { token: bodyToken });
  for (const token of tokens) {
    const runner = await findRunner(pod.database, token);
    if (runner !== undefined) return { runner, token };
  }
  pod.metrics.add("tokens_refused_total", { kind: "runner" });
  pod.settings.log("warning", "A token of a runner was refused", {
    token: tokens[0] === undefined ? "none" : tokenFingerprint(tokens[0]),
  });
  throw new HttpError(403, "403 Forbidden - invalid token");
}
