#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { ownStart } from "./bootstrap/start.ts";
import { codeCacheDirectory } from "./code-cache.ts";
import { versionText } from "./version.ts";

const start = ownStart();
const { name, args } = start;
if (start.error !== undefined) {
  process.stderr.write(`${name}: ${start.error}\n`);
  process.exitCode = 2;
} else if (args.length === 1 && ["--version", "-V", "version", "-v"].includes(args[0] ?? "")) {
  process.stdout.write(versionText(name));
} else {
  // Node keeps the compiled form of what is loaded below among the user's files; where it cannot, it only starts slower.
  enableCompileCache(codeCacheDirectory(process.env));
  // Everything else is behind this import, so that the version costs no more than Node itself.
  void import("./run-main.ts").then(async ({ runMain }) => {
    process.exitCode = await runMain(start);
  });
}
