import * as core from "@actions/core";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

// Prints the commands that `@actions/core` prints where there are no files for them, as its former versions always did,
// and the input names that it reads.
const matcher = join(process.env["RUNNER_TEMP"] ?? "", "matcher.json");
const pattern = { regexp: "^(.+):(\\d+):(\\d+) - (error|warning) (\\w+): (.*)$", file: 1, line: 2, column: 3 };
const rest = { severity: 4, code: 5, message: 6 };
writeFileSync(matcher, JSON.stringify({ problemMatcher: [{ owner: "tool", pattern: [{ ...pattern, ...rest }] }] }));
for (const name of ["OUTPUT", "STATE", "ENV", "PATH"]) delete process.env[`GITHUB_${name}`];

if (core.getState("text") === "") {
  core.saveState("text", "100%25 of\nlines %0A");
  core.setOutput("text", "%25 %250A %0A\r\nend:,;=]");
  core.setOutput("kept", process.env["MY_INPUT_X"] ?? "gone");
  core.setOutput(
    "inputs",
    Object.keys(process.env).filter((name) => name.startsWith("INPUT_")),
  );
  core.info(`##[add-matcher]${matcher}`);
  core.info("src/a.ts:3:5 - error TS1: it is wrong");
  core.info("##[remove-matcher owner=tool]");
  core.info("src/b.ts:3:5 - error TS1: nobody looks");
  core.setCommandEcho(true);
  core.setOutput("echoed", "yes");
  core.setCommandEcho(false);
  core.info("::stop-commands::a-token-of-mine");
  core.setOutput("text", "not now");
  core.info("::a-token-of-mine::");
  if (core.getInput("unsafe") !== "") {
    core.exportVariable("UNSAFE", core.getInput("unsafe"));
    core.addPath("/unsafe");
  }
} else core.info(`state ${JSON.stringify(core.getState("text"))}`);
