import { spawn } from "node:child_process";
import { isAbsolute, join } from "node:path";
import { BoundedText } from "@steps/model/bounded-text";
import { KubernetesError } from "../kubernetes-error.ts";
import { flagField, isRecord, textField } from "./kubeconfig.ts";
import type { KubeconfigEntry } from "./kubeconfig.ts";

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** A credential is asked for again this long before it expires, so that it does not on its way. */
const SKEW_MS = 10_000;

/** The credentials that a plugin returned. */
export interface ExecCredential {
  readonly token: string | undefined;
  readonly clientCertificate: string | undefined;
  readonly clientKey: string | undefined;
  /**
   * The time at which the credentials expire, in milliseconds since 1970. Undefined: they are used until they are
   * refused.
   */
  readonly expiresAtMs: number | undefined;
}

export interface ExecCredentialRequest {
  /** The `exec` of a kubeconfig's user. */
  readonly plugin: KubeconfigEntry;
  /** The description of the cluster that is passed to plugins that ask for it. */
  readonly cluster: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Whether a credential can still be used. */
export function isFresh(credential: ExecCredential): boolean {
  return credential.expiresAtMs === undefined || Date.now() + SKEW_MS < credential.expiresAtMs;
}

/**
 * Runs a credential plugin (`client.authentication.k8s.io/v1` or `v1beta1`), without a terminal, for at most a minute.
 * Rejects with ADDRESS_INVALID when it is not installed or does not do as it should, with UNREACHABLE when it failed this time
 * (what it needs may be away for the moment, like the network itself), with the signal's reason.
 */
export async function runCredentialPlugin(
  request: ExecCredentialRequest,
  signal: AbortSignal,
): Promise<ExecCredential> {
  const { fields } = request.plugin;
  const apiVersion = textField(fields, "apiVersion") ?? "";
  const command = textField(fields, "command") ?? "";
  if (!/^client\.authentication\.k8s\.io\/v1(?:beta1)?$/u.test(apiVersion) || command === "") {
    throw invalid(command, `has the API version ${JSON.stringify(apiVersion)}, which is not supported`);
  }
  if (textField(fields, "interactiveMode") === "Always") throw invalid(command, "wants a terminal");
  const spec = { interactive: false, ...(flagField(fields, "provideClusterInfo") && { cluster: request.cluster }) };
  const info = JSON.stringify({ apiVersion, kind: "ExecCredential", spec });
  const output = await run(request, { command, info, signal });
  return parseCredential(output, { apiVersion, command });
}

interface PluginRun {
  readonly command: string;
  readonly info: string;
  readonly signal: AbortSignal;
}

async function run(request: ExecCredentialRequest, { command, info, signal }: PluginRun): Promise<string> {
  signal.throwIfAborted();
  const { fields, dir } = request.plugin;
  const program = command.includes("/") && !isAbsolute(command) ? join(dir, command) : command;
  const args = Array.isArray(fields["args"]) ? (fields["args"] as unknown[]).map(String) : [];
  const env = { ...request.env, ...namedValues(fields["env"]), KUBERNETES_EXEC_INFO: info };
  const child = spawn(program, args, {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
  });
  const stop = (): void => killGroup(child.pid);
  const timer = setTimeout(stop, TIMEOUT_MS);
  signal.addEventListener("abort", stop, { once: true });
  const output: Buffer[] = [];
  let size = 0;
  const errors = new BoundedText(2048);
  child.stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_OUTPUT_BYTES) stop();
    else output.push(chunk);
  });
  child.stderr.on("data", (chunk: Buffer) => errors.append(chunk));
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", resolve);
    });
    signal.throwIfAborted();
    if (code === 0 && size <= MAX_OUTPUT_BYTES) return Buffer.concat(output).toString();
    const how = code === null ? "was stopped" : `ended with exit code ${code}`;
    throw new KubernetesError("UNREACHABLE", `The credential plugin ${JSON.stringify(command)} ${how}${said(errors)}`);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof KubernetesError) throw cause;
    throw invalid(command, "cannot be started", { cause, hint: textField(fields, "installHint") });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

function said(text: BoundedText): string {
  const shown = text.toString();
  return shown === "" ? "" : `: ${shown}`;
}

function namedValues(list: unknown): Record<string, string> {
  const values: Record<string, string> = {};
  for (const item of Array.isArray(list) ? (list as unknown[]) : []) {
    if (!isRecord(item) || typeof item["name"] !== "string") continue;
    values[item["name"]] = typeof item["value"] === "string" ? item["value"] : "";
  }
  return values;
}

function parseCredential(
  output: string,
  { apiVersion, command }: { apiVersion: string; command: string },
): ExecCredential {
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch {
    // The parser's message quotes its text, which holds a secret.
  }
  if (!isRecord(value) || value["kind"] !== "ExecCredential") throw invalid(command, "printed no ExecCredential");
  if (value["apiVersion"] !== apiVersion) throw invalid(command, `answered in another API version than ${apiVersion}`);
  const status = isRecord(value["status"]) ? value["status"] : {};
  const token = jsonText(status, "token");
  const clientCertificate = jsonText(status, "clientCertificateData");
  const clientKey = jsonText(status, "clientKeyData");
  if ((clientCertificate === undefined) !== (clientKey === undefined)) {
    throw invalid(command, "gave only one of certificate and key");
  }
  if (token === undefined && clientKey === undefined) throw invalid(command, "gave neither a token nor a certificate");
  const expiry = jsonText(status, "expirationTimestamp");
  const expiresAtMs = expiry === undefined ? undefined : Date.parse(expiry);
  if (Number.isNaN(expiresAtMs)) throw invalid(command, "gave an expiration time that is none");
  return { token, clientCertificate, clientKey, expiresAtMs };
}

function jsonText(fields: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = fields[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function invalid(
  command: string,
  what: string,
  options: { cause?: unknown; hint?: string | undefined } = {},
): KubernetesError {
  return new KubernetesError("ADDRESS_INVALID", `The credential plugin ${JSON.stringify(command)} ${what}`, options);
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
