import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { cancelled, type Remote, throwIfCancelled } from "@steps/transfer";
import { CacheError } from "../cache-error.ts";

/** One start of the git program. */
export interface GitCall {
  readonly program: string;
  readonly args: readonly string[];
  /** A folder of ours that is no repository and has no `.netrc`. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The repository on the other side, if the call talks to one: its scheme is allowed, its credentials are given. */
  readonly remote?: Remote;
  readonly signal?: AbortSignal | undefined;
  readonly input?: string;
  /** The file that replaces the user's own configuration; helpers that git starts on this machine read it too. */
  readonly globalConfig?: string;
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_CHARS = 16 * 1024;

// Proxy and certificates belong to the machine; nothing else of the caller's environment reaches git.
const PASSED_ENV = (
  "PATH TMPDIR SystemRoot http_proxy https_proxy HTTPS_PROXY ALL_PROXY all_proxy NO_PROXY no_proxy " +
  "SSL_CERT_FILE SSL_CERT_DIR GIT_SSL_CAINFO GIT_SSL_CAPATH"
).split(" ");
const SSH_ENV = ["HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK"];

const HARDENING: readonly string[] = [
  "protocol.allow=never",
  "protocol.version=2",
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.askPass=",
  "credential.helper=",
  "fetch.recurseSubmodules=false",
  "transfer.fsckObjects=true",
  "transfer.bundleURI=false",
  // Packs appear whole or not at all, loose objects one by one: a killed fetch must leave no half of a commit.
  "transfer.unpackLimit=1",
  "gc.auto=0",
  "maintenance.auto=false",
  "http.lowSpeedLimit=1000",
  "http.lowSpeedTime=60",
];

/** The `git` program on the PATH, if there is one. Starts no process. */
export function findGit(env: Readonly<Record<string, string | undefined>>): string | undefined {
  for (const dir of (env["PATH"] ?? "").split(delimiter)) {
    const path = join(dir, process.platform === "win32" ? "git.exe" : "git");
    try {
      if (!isAbsolute(dir) || !statSync(path).isFile()) continue;
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

/** Starts git in a process group of its own, so that its helpers end with it. */
export async function startGit(call: GitCall): Promise<ChildProcessWithoutNullStreams> {
  throwIfCancelled(call.signal);
  const child = spawn(call.program, [...hardening(call.remote), ...call.args], {
    cwd: call.cwd,
    env: environment(call),
    stdio: ["pipe", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  // git may end before it has read everything; its exit code tells what happened.
  child.stdin.on("error", () => undefined);
  return child;
}

/** Runs git to its end. A failure is a result: only a missing program, a flood of output and a cancel are thrown. */
export async function runGit(call: GitCall): Promise<{ code: number | null; stdout: Buffer; stderr: string }> {
  const child = await startGit(call);
  const { promise, resolve, reject } = Promise.withResolvers<{ code: number | null; stdout: Buffer; stderr: string }>();
  const stdout: Buffer[] = [];
  let bytes = 0;
  let stderr = "";
  const onAbort = (): void => killGit(child);
  call.signal?.addEventListener("abort", onAbort, { once: true });
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes > MAX_OUTPUT_BYTES) killGit(child);
    else stdout.push(chunk);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-MAX_ERROR_CHARS);
  });
  child.on("error", (error) =>
    reject(new CacheError("GIT_MISSING", `Cannot start "${call.program}": ${error.message}`, { cause: error })),
  );
  child.on("close", (code) => {
    call.signal?.removeEventListener("abort", onAbort);
    if (call.signal?.aborted === true) reject(cancelled(call.signal));
    else if (bytes > MAX_OUTPUT_BYTES)
      reject(new CacheError("TRANSPORT", "Cannot read the output of git: it has no end"));
    else resolve({ code, stdout: Buffer.concat(stdout), stderr });
  });
  child.stdin.end(call.input ?? "");
  return await promise;
}

/** Ends git and its helpers at once; what it was writing is a temporary file that nobody reads. */
export function killGit(child: { readonly pid?: number | undefined; kill(signal: "SIGKILL"): boolean }): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

function hardening(remote: Remote | undefined): string[] {
  const settings = [...HARDENING];
  if (remote !== undefined) settings.push(`protocol.${remote.scheme}.allow=always`);
  // With credentials git must not follow a redirect by itself: the header would go along. `withRedirect()` does it.
  settings.push(`http.followRedirects=${remote?.authorization === undefined ? "initial" : "false"}`);
  return settings.flatMap((setting) => ["-c", setting]);
}

function environment({ env, remote, cwd, globalConfig }: GitCall): Record<string, string> {
  const result: Record<string, string> = {
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: globalConfig ?? (process.platform === "win32" ? "NUL" : "/dev/null"),
    GIT_TERMINAL_PROMPT: "0",
    GIT_PROTOCOL_FROM_USER: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_CEILING_DIRECTORIES: cwd,
    HOME: cwd,
  };
  const passed = remote?.scheme === "ssh" ? [...PASSED_ENV, ...SSH_ENV] : PASSED_ENV;
  for (const name of passed) {
    const value = env[name];
    if (value !== undefined) result[name] = value;
  }
  if (remote?.scheme === "ssh") result["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes";
  if (remote?.authorization !== undefined) {
    // The environment of one process carries it, because everybody on the machine can read arguments.
    result["GIT_CONFIG_COUNT"] = "1";
    result["GIT_CONFIG_KEY_0"] = `http.${new URL(remote.url).origin}/.extraHeader`;
    result["GIT_CONFIG_VALUE_0"] = `Authorization: ${remote.authorization}`;
  }
  return result;
}
