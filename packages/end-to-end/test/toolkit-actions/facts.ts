import * as core from "@actions/core";
import { existsSync, readFileSync } from "node:fs";
import { delimiter } from "node:path";

// Exercises `@actions/core`. Main and post are one bundle, as in most actions.
const FOLDER = "bin dir";

async function main(): Promise<void> {
  core.saveState("Is-Post", "true");
  core.saveState("object", { list: [1, "zwei"] });
  core.saveState("lines", "one\ntwo=2\nthree<<EOF");
  core.setOutput("inputs", {
    who: core.getInput("who to greet", { required: true }),
    spaces: core.getInput("spaces", { trimWhitespace: false }),
    depth: core.getInput("fetch-depth"),
    flag: core.getBooleanInput("flag"),
    lines: core.getMultilineInput("lines"),
    empty: core.getInput("empty"),
    undeclared: core.getInput("not-declared"),
  });
  core.setOutput("lines", "one\ntwo=2\nthree<<EOF\n");
  core.setOutput("percent", "100%0A %25 ::error::no\r");
  core.setOutput("none", null);
  core.exportVariable("FROM_CORE", { list: [1, 2] });
  core.exportVariable("LINES_FROM_CORE", "a\nb");
  core.addPath(`${process.env["RUNNER_TEMP"]}/${FOLDER}`);
  core.setOutput("own-path", process.env["PATH"]?.split(delimiter)[0] === `${process.env["RUNNER_TEMP"]}/${FOLDER}`);
  core.setOutput("platform", core.platform.platform);
  core.setOutput("node", process.versions.node.split(".")[0]);
  core.setOutput("debug", core.isDebug());
  say();
  await core.summary
    .addHeading("Facts")
    .addTable([["a", "b"]])
    .addRaw("by `@actions/core`", true)
    .write();
  const answer = await core.group("A group", () => Promise.resolve(42));
  core.setOutput("answer", answer);
  if (core.getInput("fail") !== "") core.setFailed(new Error(core.getInput("fail")));
}

function say(): void {
  core.debug("seen only when looked for");
  core.info("plain ::warning in the middle");
  core.notice("a notice", { title: "Title: 1,5%", file: "src/a b.ts", startLine: 3, endLine: 4, startColumn: 5 });
  core.warning(new Error("a warning\nof two lines"), { file: "src/x,y.ts", startLine: 7 });
  core.error("100% wrong", { title: "Bad" });
}

function post(): void {
  const state = { object: core.getState("object"), lines: core.getState("lines"), other: core.getState("IS-POST") };
  const input = core.getInput("who to greet");
  core.info(`post ${JSON.stringify({ ...state, input, from: process.env["LATE"] ?? "" })}`);
  // A post has files of its own, and none that another step has left behind.
  core.info(`files ${existsSync(process.env["GITHUB_OUTPUT"] ?? "")} ${core.isDebug()}`);
  core.info(`event ${typeof JSON.parse(readFileSync(process.env["GITHUB_EVENT_PATH"] ?? "", "utf8"))}`);
}

if (core.getState("Is-Post") === "true") post();
else void main();
