import { writeSync } from "node:fs";
import { run, sh } from "./harness.ts";

// A program of its own: what it was given by its parent is not what the tests' process was given.
const ran = await run(sh(process.argv[2] ?? ""));
writeSync(1, ran.output);
