import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { RunStatus, StepReferenceProtocol, StepSchema } from "@steps/proto";
import { type Job, RunRequest_StepType } from "@steps/proto/service";
import { decodeTrace } from "@steps/trace";
import { describe, expect, test } from "vitest";
import { openWorld, readAll, type World } from "./harness.ts";

const MANIFEST = `
inputs: {who-to-greet: {default: nobody}}
outputs: {length: {description: Of the greeting}}
runs: {using: node24, main: main.js, post: post.js}
`;
const MAIN = `
const { appendFileSync } = require("node:fs");
const who = process.env["INPUT_WHO-TO-GREET"];
console.log("::add-mask::hidden-by-action");
console.log("::warning file=a.js,line=3::look here");
console.log("hello " + who + ", " + process.env.GITHUB_REPOSITORY + ", hidden-by-action");
appendFileSync(process.env.GITHUB_OUTPUT, "length=" + who.length + "\\n");
appendFileSync(process.env.GITHUB_ENV, "GREETED=" + who + "\\n");
if (who === "slow") setInterval(() => {}, 1000);
`;

/** A service whose directory has the action `./greet`. */
async function openWithAction(): Promise<World> {
  const world = await openWorld();
  const dir = join(world.dir, "greet");
  mkdirSync(dir);
  writeFileSync(join(dir, "action.yml"), MANIFEST);
  writeFileSync(join(dir, "main.js"), MAIN);
  writeFileSync(join(dir, "post.js"), `console.log("bye " + process.env["INPUT_WHO-TO-GREET"]);\n`);
  return world;
}

async function endOf({ ours }: World, id: string): Promise<Pick<Job, "runStatus" | "exitCode" | "error">> {
  let last: Job | undefined;
  for await (const { job } of ours.follow({ id })) last = job;
  if (last === undefined) throw new Error("There was no state");
  const { runStatus, exitCode, error } = last;
  return { runStatus, exitCode, error };
}

const DEFINITION = `
- {name: greet, action: ./greet, inputs: {who-to-greet: you}}
- {name: tell, script: 'echo "$GREETED \${{ steps.greet.outputs.length }}"'}
`;

describe("actions of GitHub in a served job", () => {
  test("run, give outputs and variables to steps, mask, annotate, and end after the last step", async () => {
    const world = await openWithAction();
    const variables = [{ key: "CI_PROJECT_PATH", value: "group/project" }];
    await world.ours.run({ id: "a", definition: DEFINITION, variables });
    const { stdout } = await readAll(world.ours, "a");
    expect(stdout).toBe("##[warning]look here\nhello you, group/project, [MASKED]\nyou 3\nbye you\n");
    expect(await endOf(world, "a")).toEqual({ runStatus: RunStatus.success, exitCode: 0, error: undefined });
    const parts: Buffer[] = [];
    for await (const { data } of world.ours.getTrace({ id: "a" })) parts.push(Buffer.from(data));
    const { root } = await decodeTrace(Buffer.concat(parts).toString());
    expect(root?.children).toMatchObject([
      { name: "greet", obs: { annotations: [{ level: "warning", message: "look here", file: "a.js", line: 3 }] } },
      { name: "tell" },
      { name: "Post greet", phase: "post" },
    ]);
    expect(Buffer.concat(parts).toString()).not.toContain("hidden-by-action");
  });

  test("run as baseline messages", async () => {
    const world = await openWithAction();
    const who = create(ValueSchema, { kind: { case: "stringValue", value: "me" } });
    const step = create(StepSchema, {
      name: "greet",
      step: { protocol: StepReferenceProtocol.action, url: "./greet" },
      inputs: { "who-to-greet": who },
    });
    await world.ours.run({ id: "a", type: RunRequest_StepType.step, steps: [step] });
    expect((await readAll(world.ours, "a")).stdout).toContain("hello me, ");
    expect((await endOf(world, "a")).runStatus).toBe(RunStatus.success);
  });

  test("run as GitLab's runner calls them", async () => {
    const world = await openWithAction();
    const variables = [{ key: "CI_PROJECT_PATH", value: "group/project" }];
    const list = DEFINITION.trim().replaceAll(/^/gm, "  ");
    const job = { buildDir: world.dir, variables };
    await world.theirs.run({ id: "7", workDir: world.dir, job, steps: `{}\n---\nrun:\n${list}\n` });
    const chunks: Buffer[] = [];
    for await (const { data } of world.theirs.followLogs({ id: "7" })) chunks.push(Buffer.from(data));
    const text = Buffer.concat(chunks).toString();
    for (const line of ["hello you, group/project, [MASKED]", "you 3", "bye you"]) expect(text).toContain(line);
  });

  test("that are missing are said before anything runs", async () => {
    const world = await openWithAction();
    const definition = "- {name: a, script: echo no}\n- {name: b, action: $/none}\n- {name: c, action: ./later}\n";
    await world.ours.run({ id: "a", definition });
    expect((await readAll(world.ours, "a")).stdout).toBe("");
    const ended = await endOf(world, "a");
    expect(ended).toMatchObject({ runStatus: RunStatus.failure, exitCode: 2 });
    expect(ended.error?.message).toContain("$/none");
  });

  test("that are cancelled are ended, and what they want afterwards is done", async () => {
    const world = await openWithAction();
    await world.ours.run({ id: "a", definition: "- {name: greet, action: ./greet, with: {who-to-greet: slow}}\n" });
    let read = "";
    for await (const { stream } of world.ours.followIO({ id: "a" })) {
      const isCancelled = read.includes("hello slow");
      read += Buffer.from(stream).toString();
      if (!isCancelled && read.includes("hello slow")) await world.ours.cancel({ id: "a" });
    }
    expect(read.endsWith("bye slow\n")).toBe(true);
    expect((await endOf(world, "a")).runStatus).toBe(RunStatus.cancelled);
  });
});
