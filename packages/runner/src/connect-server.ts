import { readFileSync } from "node:fs";
import { messageOf } from "@steps/model";
import { connectRunnerApi, type RunnerApi, type RunnerApiOptions } from "@steps/runner-api/client";
import type { RunnerConfig } from "./config/runner-config.ts";
import { RunnerError } from "./runner-error.ts";
import { USER_AGENT } from "./runner-info.ts";

/** The settings by which a server is reached. */
export type ServerConfig = Pick<RunnerConfig, "url" | "tls_ca_file" | "tls_cert_file" | "tls_key_file">;

/** Gives the calls of a runner to its server. @throws {RunnerError} CONFIG_IO @throws {RunnerClientError} CLIENT_CONFIG */
export function connectServer(config: ServerConfig, retries?: RunnerApiOptions["retries"]): RunnerApi {
  const tls = {
    ca: readPem(config.tls_ca_file),
    cert: readPem(config.tls_cert_file),
    key: readPem(config.tls_key_file),
  };
  return connectRunnerApi({ url: config.url, userAgent: USER_AGENT, tls, retries });
}

function readPem(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new RunnerError("CONFIG_IO", `Cannot read "${file}": ${messageOf(error)}`, { cause: error });
  }
}
