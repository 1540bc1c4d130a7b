// npm start: sets up, then runs the hello-world job; npm start -- ARGS hands ARGS to step-runner.
import { join } from "node:path";
import { root, run, setUp } from "./setup.mjs";

setUp();
const command = join(root, "node_modules", ".bin", "step-runner");
const args = process.argv.slice(2);
const hello = ["local", "examples/hello/.gitlab-ci.yml", "--job-name", "hello-world", "--output-file", "trace.json"];
// npm runs scripts in the root of the package; paths that a user types are relative to where the user is.
const cwd = args.length > 0 ? (process.env["INIT_CWD"] ?? root) : root;
process.exitCode = run(command, args.length > 0 ? args : hello, { cwd, env: process.env });
