import { createHash } from "node:crypto";
import { type KubernetesServer, type KubernetesServerOptions, startKubernetesServer } from "@steps/testkit";
import { onTestFinished } from "vitest";
import type { DialError } from "../src/index.ts";

/** The first frame of an HTTP/2 server: empty SETTINGS. */
export const SETTINGS: Buffer = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

/** Starts a server with the pod "job", which goes with the test. */
export async function startServer(options: Partial<KubernetesServerOptions> = {}): Promise<KubernetesServer> {
  const server = await startKubernetesServer({ pods: [{ name: "job" }], ...options });
  onTestFinished(() => server.close());
  return server;
}

/** A command that greets like an HTTP/2 server, then runs a script of sh. */
export function greeting(script: string): string[] {
  return ["sh", "-c", `printf '\\0\\0\\0\\4\\0\\0\\0\\0\\0'; ${script}`];
}

/** Returns the error that a promise is rejected with, and fails if the promise is resolved. */
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
