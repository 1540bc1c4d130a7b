import { describe, expect, test } from "vitest";
import { judgeJob, type JudgeJobResult } from "./judge-job.ts";
import { loadPipelineNow } from "./load/load-pipeline.ts";
import type { LoadedPipeline } from "./load/loaded-pipeline.ts";
import { plainVariables } from "./variables/collect-variables.ts";
import { compileJob } from "./compile/compile-job.ts";

const FILE = `
workflow:
  rules:
    - if: $CI_COMMIT_BRANCH == "main"
      variables: {LEVEL: release, FROM: workflow}
    - if: $CI_COMMIT_BRANCH
variables: {LEVEL: debug, FROM: file}
deploy:
  script: echo $LEVEL $FROM
  variables: {FROM: job}
  rules:
    - if: $LEVEL == "release" && $FROM == "job"
      variables: {FROM: "rule-$LEVEL"}
aside:
  script: echo
  inherit: {variables: false}
  rules:
    - if: $LEVEL == null
plain:
  script: echo
broken:
  script: echo
  rules:
    - if: $A =
    - if: $A =~ /(?!x)y/
`;

function loaded(text: string): LoadedPipeline {
  const { pipeline, diagnostics } = loadPipelineNow({ name: "ci.yml", text });
  if (pipeline === undefined) throw new Error(`Not loaded: ${diagnostics.map(({ message }) => message).join("; ")}`);
  return pipeline;
}

function judge(jobName: string, branch: string | undefined): Promise<JudgeJobResult> {
  const predefined = plainVariables(branch === undefined ? {} : { CI_COMMIT_BRANCH: branch });
  const situation = { source: "push", ref: branch, isTag: branch === undefined };
  return judgeJob(loaded(FILE), { jobName, situation, sources: () => ({ predefined }) });
}

describe("judgeJob()", () => {
  test("judgeJob() decides the workflow first, whose variables the rules of the job see", async () => {
    const { judged, diagnostics } = await judge("deploy", "main");
    expect(diagnostics).toEqual([]);
    expect(judged).toMatchObject({ workflow: { isIn: true }, job: { isIn: true, by: { kind: "rule", index: 0 } } });
    expect((await judge("deploy", "other")).judged).toMatchObject({ workflow: { isIn: true }, job: { isIn: false } });
    expect((await judge("plain", undefined)).judged).toMatchObject({ workflow: { isIn: false }, job: { isIn: true } });
  });

  test("judgeJob() gives the variables of the rules to the translation", async () => {
    const { judged } = await judge("deploy", "main");
    const sources = judged?.sources ?? {};
    const { job } = compileJob(loaded(FILE), { jobName: "deploy", sources });
    expect(job?.variables).toMatchObject({ LEVEL: "release", FROM: "rule-release", CI_COMMIT_BRANCH: "main" });
  });

  test("judgeJob() keeps the variables of the workflow from a job that inherits none", async () => {
    expect((await judge("aside", "main")).judged?.job.isIn).toBe(true);
  });

  test("judgeJob() says what is wrong with rules, and nothing else", async () => {
    const { judged, diagnostics } = await judge("broken", "main");
    expect(judged).toBeUndefined();
    expect(diagnostics.map(({ code, position }) => `${code} ${position?.line}:${position?.column}`)).toEqual([
      "invalid-condition 24:14",
      "invalid-condition 25:17",
    ]);
    expect(await judge("none", "main")).toEqual({ judged: undefined, diagnostics: [] });
  });
});
