import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { tempDir } from "@steps/testkit";
import type { Services, ServicesOptions } from "../src/index.ts";
import { startServices } from "../src/index.ts";

const CLIENT = join(import.meta.dirname, "toolkit-client.ts");

/** Services in folders of their own, closed when the test ends. */
export async function openServices(options: Partial<ServicesOptions> = {}): Promise<Services> {
  const dir = tempDir();
  const folders = { cacheDir: join(dir, "cache"), artifactDir: join(dir, "artifacts") };
  const services = await startServices({ ...folders, runId: "17", jobId: "build", ...options });
  onTestFinished(async () => await services.close());
  return services;
}

/** A job that calls GitHub's own clients. */
export interface Job {
  readonly workspace: string;
  /** Calls methods of a client one after the other; the answers are in their order. */
  readonly call: (
    client: string,
    ...calls: readonly (readonly [method: string, ...args: unknown[]])[]
  ) => Promise<Answers>;
}

interface Answers {
  readonly results: readonly unknown[];
  readonly errors: readonly (string | undefined)[];
  /** All that the client printed. */
  readonly log: string;
}

/** A workspace and an environment as an action has them; `serverUrl` decides which generation of caches the client speaks. */
export function openJob(
  services: Services,
  options: { readonly serverUrl?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Job {
  const dir = tempDir();
  const workspace = join(dir, "workspace");
  const temp = join(dir, "temp");
  for (const path of [workspace, temp]) mkdirSync(path);
  const env = {
    PATH: process.env["PATH"],
    GITHUB_SERVER_URL: options.serverUrl ?? "https://github.com",
    GITHUB_WORKSPACE: workspace,
    GITHUB_RUN_ID: "17",
    RUNNER_TEMP: temp,
    RUNNER_OS: "Linux",
    RUNNER_DEBUG: "1",
    TMPDIR: temp,
    ...services.env,
    ...options.env,
  };
  return {
    workspace,
    call: async (client, ...calls) => {
      const argv = ["--no-warnings", CLIENT, client, JSON.stringify(calls)];
      const child = spawn(process.execPath, argv, { cwd: workspace, env, stdio: ["ignore", "pipe", "pipe"] });
      let log = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => (log += chunk.toString()));
      await once(child, "close");
      const last = log.trimEnd().split("\n").at(-1) ?? "";
      const answers = JSON.parse(last) as { readonly result?: unknown; readonly error?: string }[];
      return { results: answers.map(({ result }) => result), errors: answers.map(({ error }) => error), log };
    },
  };
}
