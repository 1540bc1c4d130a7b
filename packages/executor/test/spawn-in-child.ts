import { writeSync } from "node:fs";
import { item, run, sequence, sh } from "./harness.ts";
import { untilReady } from "./spawners.ts";

// A program of its own: what is killed here is the runner. Its scripts are started by a spawner.
const outerCookie = process.env["STEP_RUNNER_COOKIE"];
const steps = [untilReady, ...process.argv.slice(2)].map((script) => item(sh(script)));
const ran = await run(sequence(steps), { spawnerAfter: 0, outerCookie });
writeSync(1, `${ran.output}${ran.outcome.status}\n`);
