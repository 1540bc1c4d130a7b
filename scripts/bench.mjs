// pnpm bench [start|steps|component|output|masking|service|docker|actions|loading|gitlab-ci-local] [--json=FILE]: the table of speed and memory.
import { join } from "node:path";
import { root, run, setUp } from "./setup.mjs";

setUp();
const args = [
  "--conditions=steps-source",
  "--disable-warning=ExperimentalWarning",
  "--expose-gc",
  join(root, "packages/bench/src/main.ts"),
];
process.exitCode = run("node", [...args, ...process.argv.slice(2)]);
