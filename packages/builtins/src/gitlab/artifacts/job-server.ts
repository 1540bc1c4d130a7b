import { readFile } from "node:fs/promises";
import { connectRunnerApi, type RunnerApi } from "@steps/runner-api/client";
import { BuiltinError } from "../../builtin-error.ts";
import { type BuiltinPlace, type Inputs, textOf } from "../../images/builtin-images.ts";

/** The server that `server_url` names; `CI_SERVER_TLS_CA_FILE` is the file with the authority that it is trusted by. */
export async function openJobServer(inputs: Inputs, { env }: BuiltinPlace): Promise<RunnerApi> {
  const caFile = env["CI_SERVER_TLS_CA_FILE"];
  const ca = caFile === undefined || caFile === "" ? undefined : await readFile(caFile, "utf8");
  return connectRunnerApi({ url: textOf(inputs, "server_url"), userAgent: "step-runner", tls: { ca } });
}

/** The failure of a call to the server: its status, and what it said. */
export function serverFailure(
  action: string,
  answer: { readonly status: number; readonly message?: string | undefined },
): BuiltinError {
  const said = answer.message === undefined ? "" : `: ${answer.message}`;
  return new BuiltinError("BUILTIN_FAILED", `${action} failed: the server answered ${answer.status}${said}`, {
    hint: HINTS[answer.status],
  });
}

const HINTS: Readonly<Record<number, string>> = {
  401: "The token of the job is not accepted any more.",
  403: "The token of the job is not accepted any more, or may not read that job.",
  404: "The artifacts have expired, or were deleted.",
  413: "They are larger than the server takes: leave files out by exclude, or raise its limit.",
};
