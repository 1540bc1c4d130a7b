import { describe, expect, test } from "vitest";
import { judgePipeline, type JudgePipelineResult } from "./judge-pipeline.ts";
import { loadPipelineNow } from "./load/load-pipeline.ts";
import { collectVariables, plainVariables } from "./variables/collect-variables.ts";
import { expandVariables } from "./variables/expand-variables.ts";

function judge(text: string, branch: string): Promise<JudgePipelineResult> {
  const { pipeline, diagnostics } = loadPipelineNow(
    { name: "ci.yml", text },
    { loadFile: () => ({ problem: "There is no other file" }) },
  );
  if (pipeline === undefined) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
  return judgePipeline(pipeline, {
    situation: { source: "push", ref: branch },
    sources: (job) => ({ predefined: plainVariables({ CI_COMMIT_BRANCH: branch, CI_JOB_NAME: job?.name ?? "none" }) }),
  });
}

const FILE = `
workflow:
  rules:
    - if: $CI_COMMIT_BRANCH == "main" && $CI_JOB_NAME == "none"
      variables: {LEVEL: release}
    - when: always
variables: {LEVEL: debug}
.base:
  rules:
    - if: $LEVEL == "release"
      variables: {FROM: "rule of $LEVEL"}
deploy:
  extends: .base
  script: echo
test:
  script: echo
  parallel: {matrix: [{OS: [linux, mac]}]}
  rules:
    - if: $OS == "linux" && $CI_JOB_NAME =~ /linux/
    - if: $LEVEL == "release"
      when: manual
by-hand: {script: echo, when: manual}
`;

describe("judgePipeline()", () => {
  test("judgePipeline() decides every job, each instance with the variables of its own", async () => {
    const outcome = async (branch: string): Promise<unknown> => {
      const { judged } = await judge(FILE, branch);
      return Object.fromEntries([...(judged?.jobs ?? [])].map(([name, { decision }]) => [name, decision.when]));
    };
    expect(await outcome("main")).toEqual({
      deploy: "on_success",
      "test: [linux]": "on_success",
      "test: [mac]": "manual",
      "by-hand": "manual",
    });
    expect(await outcome("other")).toEqual({
      deploy: "never",
      "test: [linux]": "on_success",
      "test: [mac]": "never",
      "by-hand": "manual",
    });
  });

  test("judgePipeline() gives each job the variables of all sources", async () => {
    const { judged } = await judge(FILE, "main");
    const sources = judged?.jobs.get("deploy")?.sources ?? {};
    expect(expandVariables(collectVariables(sources)).values).toMatchObject({
      LEVEL: "release",
      FROM: "rule of release",
      CI_JOB_NAME: "deploy",
    });
  });

  test("judgePipeline() says what is wrong once, however many instances there are", async () => {
    const { judged, diagnostics } = await judge("a:\n  script: echo\n  parallel: 50\n  rules: [{if: $A =}]\n", "main");
    expect(judged).toBeUndefined();
    expect(diagnostics.map(({ code }) => code)).toEqual(["invalid-condition"]);
  });

  test("judgePipeline() takes a workflow that lets nothing in", async () => {
    const { judged } = await judge("workflow: {rules: [{if: $NONE}]}\na: {script: echo}\n", "main");
    expect(judged).toMatchObject({ workflow: { isIn: false, reason: "The rule does not match" } });
  });
});
