#!/usr/bin/env node
import { ownStart } from "./bootstrap/start.ts";
import { versionText } from "./version.ts";

const start = ownStart();
const { name, args } = start;
if (start.error !== undefined) {
  process.stderr.write(`${name}: ${start.error}\n`);
  process.exitCode = 2;
} else if (args.length === 1 && ["--version", "-V", "version", "-v"].includes(args[0] ?? "")) {
  process.stdout.write(versionText(name));
} else {
  // Everything else is behind this import, so that the version costs no more than Node itself.
  void import("./run-main.ts").then(async ({ runMain }) => {
    process.exitCode = await runMain(start);
  });
}
