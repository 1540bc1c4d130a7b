import { writeSync } from "node:fs";
import { run, sh } from "./harness.ts";

// A program of its own: its descriptors and its processes are not those of the tests.
const outerCookie = process.env["STEP_RUNNER_COOKIE"];
const ran = await run(sh(process.argv[2] ?? ""), outerCookie === undefined ? {} : { outerCookie });
writeSync(1, ran.output);
