#!/usr/bin/env node
import { giveMemoryBack } from "./give-memory-back.ts";
import { VERSION } from "./version.ts";

const args = process.argv.slice(2);
if (args.length === 1 && (args[0] === "--version" || args[0] === "-V" || args[0] === "version")) {
  process.stdout.write(`pod ${VERSION}\n`);
} else {
  giveMemoryBack(args);
  // Everything else is behind this import, so that the version costs no more than Node itself.
  void Promise.all([import("@steps/console"), import("./program.ts")]).then(async ([{ runProgram }, { program }]) => {
    process.exitCode = await runProgram(program, args);
  });
}
