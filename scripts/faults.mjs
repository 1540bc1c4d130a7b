// pnpm faults [TRIAL...] [--count N] [--seed S] [--report json]: real processes, kills, cuts and hostile input; --help says more.
import { join } from "node:path";
import { root, run, setUp } from "./setup.mjs";

setUp();
const args = [
  "--conditions=steps-source",
  "--disable-warning=ExperimentalWarning",
  join(root, "packages/end-to-end/src/main.ts"),
];
process.exitCode = run("node", [...args, ...process.argv.slice(2)]);
