// A runner in twenty lines: node runner.ts steps.yml [CONTAINER]
import { readFileSync } from "node:fs";
import { runAndFollow } from "@steps/client";
import { dialDocker, dialUnix } from "@steps/dial";

const [file = "steps.yml", container] = process.argv.slice(2);
const dial = container === undefined ? dialUnix({ env: process.env }) : dialDocker({ container });
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());

const { job, exitCode } = await runAndFollow(
  dial,
  { definition: readFileSync(file, "utf8"), source: file },
  {
    signal: stop.signal,
    onOutput: (stream, bytes) => new Promise((taken) => process[stream].write(bytes, () => taken())),
    onState: (state) => void (state.type === "lost" && console.error(`${state.reason}; the job goes on`)),
  },
);
if (job.error !== undefined) console.error(job.error.message);
process.exitCode = exitCode;
