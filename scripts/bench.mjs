// pnpm bench [CASE]... [--json FILE] [--compare FILE]: the table of speed and memory, in both forms of the command; FILE gets a line
// of JSON for each run, and the last one is what is compared with. CASE is one of the names in packages/bench/src/main.ts.
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
