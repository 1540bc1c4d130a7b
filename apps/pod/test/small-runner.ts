import { spawn } from "node:child_process";
import { crc32 } from "node:zlib";
import { connectRunnerApi } from "@steps/runner-api/client";
import type { JobPayload } from "@steps/runner-api/job";
import { runnerInfo } from "@steps/testkit";

const info = runnerInfo({ trace_reset: false, cancel_gracefully: false, native_steps_integration: false });

/** Takes jobs one after the other and runs their scripts by bash, until the signal ends it: as little as a runner can be. */
export async function runSmallRunner(url: string, token: string, signal: AbortSignal): Promise<void> {
  const api = connectRunnerApi({ url, userAgent: "small 1" });
  while (!signal.aborted) {
    const answer = await api.requestJob({ token, info }, { signal }).catch(() => undefined);
    if (answer?.payload !== undefined) await runJob(api, answer.payload);
  }
  api.close();
}

async function runJob(api: ReturnType<typeof connectRunnerApi>, payload: JobPayload): Promise<void> {
  const { id, token } = payload;
  await api.updateJob(id, { token, info, state: "running" });
  const script = payload.steps.find(({ name }) => name === "script")?.script ?? [];
  const env = Object.fromEntries(payload.variables.map(({ key, value }) => [key, value]));
  const child = spawn("bash", ["-e", "-c", script.join("\n")], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let text = Buffer.alloc(0);
  child.stdout.on("data", (chunk: Buffer) => (text = Buffer.concat([text, chunk])));
  const heartbeat = setInterval(() => {
    void api.updateJob(id, { token, info, state: "running" }).then(({ jobStatus }) => {
      if (jobStatus === "canceled") child.kill("SIGKILL");
    });
  }, 100);
  const exitCode = await new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? 1)));
  clearInterval(heartbeat);
  if (text.length > 0) await api.patchTrace(id, { token, offset: 0, bytes: text });
  const output = { checksum: `crc32:${crc32(text).toString(16).padStart(8, "0")}`, bytesize: text.length };
  const end =
    exitCode === 0 ? ({ state: "success" } as const) : ({ state: "failed", failure_reason: "script_failure" } as const);
  await api.updateJob(id, { token, info, ...end, exit_code: exitCode, output });
}
