import { writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import type { DialError } from "../src/index.ts";

/** The first frame of an HTTP/2 server: empty SETTINGS. */
export const SETTINGS: Buffer = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

/** A command that greets like an HTTP/2 server, then runs a script of sh. */
export function greeting(script: string): string[] {
  return ["sh", "-c", `printf '\\0\\0\\0\\4\\0\\0\\0\\0\\0'; ${script}`];
}

/** Writes a kubeconfig for a server and gives its path. */
export async function writeKubeconfig(
  server: { url: string },
  user: object = {},
  cluster: object = {},
): Promise<string> {
  const path = join(tempDir(), "config");
  const config = {
    "current-context": "test",
    clusters: [{ name: "c", cluster: { server: server.url, ...cluster } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "test", context: { cluster: "c", user: "u" } }],
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}

/** What a promise is rejected with; fails when it is not. */
export async function errorOf(promise: Promise<unknown>): Promise<DialError> {
  const value = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (value === undefined) throw new Error("It should have been rejected");
  return value as DialError;
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
