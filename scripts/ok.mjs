// The one gate: everything about the tree that a machine can check without running it.
import { run, setUp } from "./setup.mjs";

setUp();
/** @type {[string, string, string[]][]} */
const checks = [
  ["generated code", "node", ["scripts/gen.mjs", "--check"]],
  [
    "reference of the commands and exit codes",
    "node",
    ["--conditions=steps-source", "scripts/cli-docs.mjs", "--check"],
  ],
  ["schemas", "node", ["--conditions=steps-source", "scripts/schemas.mjs", "--check"]],
  ["reference of the diagnostics", "node", ["--conditions=steps-source", "scripts/diagnostics-docs.mjs", "--check"]],
  [
    "reference of the library of steps",
    "node",
    ["--conditions=steps-source", "scripts/gitlab-steps-docs.mjs", "--check"],
  ],
  ["tables of the conformance cases", "node", ["scripts/conformance-table.mjs", "--check"]],
  ["entries of packages", "node", ["scripts/entries.mjs"]],
  ["layers", "turbo", ["boundaries", "--no-color"]],
  ["folders", "node", ["scripts/folder-cycles.mjs"]],
  ["unused code and dependencies", "knip", ["--no-config-hints"]],
  ["marks of conflicts", "sh", ["-c", "! git grep -nE '^(<{7}|>{7}) '"]],
  ["format", "oxfmt", ["--check", "."]],
  ["lint", "oxlint", ["--type-aware"]],
  ["types", "tsc", ["-b"]],
  ["dependencies for types alone", "node", ["scripts/type-dependencies.mjs"]],
  ["types of tests", "tsc", ["-p", "tsconfig.test.json"]],
  ["schema", "buf", ["lint"]],
];
const failed = checks.filter(([name, command, args]) => {
  process.stderr.write(`ok: ${name}\n`);
  return run(command, args) !== 0;
});
if (failed.length > 0) {
  process.stderr.write(`not ok: ${failed.map(([name]) => name).join(", ")}\n`);
  process.exitCode = 1;
} else {
  process.stderr.write("ok\n");
}
