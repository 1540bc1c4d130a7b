import { spawn } from "node:child_process";
import { TransferError } from "../error.ts";
import type { Credentials } from "./docker-config.ts";

export interface HelperOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DRAIN_MS = 1_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Asks a credential helper, the program `docker-credential-NAME`, for the credentials of a server. Gives `undefined`
 * when it has none. What it prints is never part of a message.
 *
 * @throws {TransferError} AUTH_FAILED when it cannot be run, fails or says something else
 */
export async function askHelper(
  name: string,
  server: string,
  options: HelperOptions,
): Promise<Credentials | undefined> {
  const program = `docker-credential-${name}`;
  const fail = (problem: string, cause?: unknown): TransferError =>
    new TransferError("AUTH_FAILED", `Cannot get credentials for "${server}": ${program} ${problem}`, { cause });
  // It becomes part of a program's name.
  if (!/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/.test(name)) {
    throw new TransferError("AUTH_FAILED", "Cannot get credentials: the credential helper has a malformed name");
  }
  const { code, output } = await runHelper(program, server, options, fail);
  if (code !== 0) {
    if (/credentials not found/i.test(output)) return undefined;
    throw fail(`ended with ${code === null ? "a signal" : `exit code ${code}`}`);
  }
  return readAnswer(output, program, fail);
}

type Fail = (problem: string, cause?: unknown) => TransferError;

async function runHelper(
  program: string,
  server: string,
  options: HelperOptions,
  fail: Fail,
): Promise<{ code: number | null; output: string }> {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
  const env = Object.fromEntries(Object.entries(options.env).filter(([, value]) => value !== undefined));
  const child = spawn(program, ["get"], { env, stdio: ["pipe", "pipe", "ignore"], signal, killSignal: "SIGKILL" });
  const { promise, resolve, reject } = Promise.withResolvers<{ code: number | null; output: string }>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) child.kill("SIGKILL");
    else chunks.push(chunk);
  });
  child.on("error", (error: NodeJS.ErrnoException) => {
    if (timeout.aborted) reject(fail(`took longer than ${timeoutMs} ms`, error));
    else reject(fail(error.code === "ENOENT" ? "is not installed" : "cannot be run", error));
  });
  // A grandchild that keeps the pipe open is not waited for: what the helper said is in the pipe when it ends.
  child.on("exit", () => setTimeout(() => child.stdout.destroy(), DRAIN_MS).unref());
  child.on("close", (code) => {
    if (bytes > MAX_ANSWER_BYTES) reject(fail(`says more than ${MAX_ANSWER_BYTES} bytes`));
    else resolve({ code, output: Buffer.concat(chunks).toString("utf8") });
  });
  // A helper that does not read its input has its own way to fail.
  child.stdin.on("error", () => undefined);
  child.stdin.end(`${server}\n`);
  return await promise;
}

function readAnswer(output: string, source: string, fail: Fail): Credentials | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(output);
  } catch {
    // The parser's sentence would quote the secret.
    throw fail("did not answer with JSON");
  }
  const { Username: username, Secret: secret } = (parsed ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof username !== "string" || typeof secret !== "string") throw fail("did not name a user and a secret");
  if (secret === "") return undefined;
  return username === "<token>" ? { identityToken: secret, source } : { username, password: secret, source };
}
