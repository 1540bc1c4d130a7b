import { describe, expect, test } from "vitest";
import { loadPipelineNow } from "../load/load-pipeline.ts";
import { planPipeline } from "../pipeline/plan-pipeline.ts";
import { plainVariables, type VariableSources } from "../variables/collect-variables.ts";
import { serverPipeline, type ServerPipeline } from "./index.ts";

async function serve(
  text: string,
  sources: VariableSources = {},
  started: readonly string[] = [],
): Promise<ServerPipeline> {
  const { pipeline, diagnostics } = loadPipelineNow({ name: ".gitlab-ci.yml", text });
  expect(diagnostics).toEqual([]);
  if (pipeline === undefined) throw new Error("no pipeline");
  const planned = await planPipeline(pipeline, {
    situation: { source: "push", ref: "main" },
    sources: () => sources,
    isStarted: ({ name }) => started.includes(name),
  });
  expect(planned.diagnostics).toEqual([]);
  return serverPipeline(pipeline, planned, {
    gitInfo: { sha: "abc" },
    digestOfFiles: (paths) => Promise.resolve(paths.includes("go.sum") ? "d1" : undefined),
    timeoutSeconds: 3600,
  });
}

describe("serverPipeline()", () => {
  test("gives a job in the words of GitLab's API, with everything as it is written", async () => {
    const { jobs, stages, diagnostics } = await serve(
      `
stages: [build, test]
default:
  image: {name: "alpine:$TAG", entrypoint: [""], docker: {user: app}}
  before_script: [echo before]
build:
  stage: build
  tags: [linux, "$ARCH"]
  services: [redis:7, {name: postgres, alias: db, variables: {A: "1"}}]
  script: [make $TARGET, [make check]]
  after_script: rm -r tmp
  hooks: {pre_get_sources_script: [df]}
  timeout: 2h
  retry: {max: 2, when: script_failure}
  allow_failure: {exit_codes: [3]}
  cache: {key: {files: [go.sum]}, paths: [.go], fallback_keys: [old]}
  artifacts:
    paths: [out]
    expire_in: 1 week
    reports: {dotenv: build.env, junit: [a.xml], coverage_report: {coverage_format: cobertura, path: c.xml}}
`,
      { pipeline: plainVariables({ ARCH: "arm64" }) },
    );
    expect(diagnostics).toEqual([]);
    expect(stages).toEqual([".pre", "build", "test", ".post"]);
    const report = { untracked: false, exclude: [], when: "always", artifact_format: "gzip", expire_in: "1 week" };
    expect(jobs).toMatchObject([
      {
        name: "build",
        stage: "build",
        needs: undefined,
        dependencies: [],
        tags: ["linux", "arm64"],
        when: "on_success",
        allow_failure: { exit_codes: [3] },
        retry: { max: 2, when: ["script_failure"] },
        timeout: 7200,
        features: [],
        payload: {
          git_info: { sha: "abc", depth: 20 },
          image: { name: "alpine:$TAG", entrypoint: [""], executor_opts: { docker: { platform: "", user: "app" } } },
          services: [
            { name: "redis:7", alias: "" },
            { name: "postgres", alias: "db", variables: [{ key: "A", value: "1", file: false, raw: false }] },
          ],
          steps: [
            {
              name: "script",
              script: ["echo before", "make $TARGET", "make check"],
              timeout: 7200,
              when: "on_success",
            },
            { name: "after_script", script: ["rm -r tmp"], when: "always", allow_failure: true },
          ],
          hooks: [{ name: "pre_get_sources_script", script: ["df"] }],
          cache: [{ key: "0_go-d1", paths: [".go"], policy: "pull-push", fallback_keys: ["old"] }],
          artifacts: [
            { paths: ["out"], artifact_type: "archive", artifact_format: "zip", when: "", expire_in: "1 week" },
            { ...report, name: ".env", paths: ["build.env"], artifact_type: "dotenv" },
            { ...report, name: "junit.xml", paths: ["a.xml"], artifact_type: "junit" },
            { ...report, name: "cobertura-coverage.xml", paths: ["c.xml"], artifact_type: "cobertura" },
          ],
        },
      },
    ]);
    expect(JSON.parse(JSON.stringify(jobs[0]))).not.toHaveProperty("payload.run");
  });

  test("tells order, needs and sources of artifacts by the names of instances", async () => {
    const { jobs } = await serve(`
stages: [a, b, c]
one: {stage: a, script: x, parallel: 2, artifacts: {paths: [o]}}
two: {stage: b, script: x, needs: [{job: one, artifacts: false}]}
three: {stage: c, script: x, when: manual}
four: {stage: c, script: x, when: delayed, start_in: 90 seconds, dependencies: [one]}
five: {stage: c, script: x, when: on_failure, needs: [{job: gone, optional: true}]}
`);
    const told = jobs.map(({ name, needs, dependencies, when, start_in }) => [
      name,
      needs,
      dependencies,
      when,
      start_in,
    ]);
    const both = ["one 1/2", "one 2/2"];
    expect(told).toEqual([
      ["one 1/2", undefined, [], "on_success", undefined],
      ["one 2/2", undefined, [], "on_success", undefined],
      ["two", both, [], "on_success", undefined],
      ["three", undefined, both, "manual", undefined],
      ["four", undefined, both, "delayed", 90],
      ["five", [], [], "on_failure", undefined],
    ]);
  });

  test("starts a manual job that is started by hand", async () => {
    const { jobs } = await serve("a: {script: x, when: manual}", {}, ["a"]);
    expect(jobs[0]?.when).toBe("on_success");
  });

  test("expands variables, and leaves references to what only the runner knows", async () => {
    const text = `
variables: {GREETING: "hello $NAME", ALL: "$GREETING, \${CI_JOB_ID}x $$5", RAW: {value: "$NAME", expand: false}}
a: {script: x, variables: {NAME: job, PATHS: "$PATHS:more", DIR: "$CI_PROJECT_DIR/out"}}
`;
    const { jobs } = await serve(text, {
      predefined: plainVariables({ CI_SERVER_URL: "https://elsewhere", CI_JOB_NAME: "a" }),
      pipeline: new Map([["SECRET", { value: "s$1", isRaw: true, isMasked: true, isFile: true }]]),
    });
    const variables = new Map(jobs[0]?.payload.variables.map(({ key, ...rest }) => [key, rest]));
    const plain = { public: false, masked: false, file: false, raw: true };
    expect(Object.fromEntries(variables)).toEqual({
      CI_JOB_NAME: { ...plain, value: "a", public: true },
      GREETING: { ...plain, value: "hello job" },
      ALL: { ...plain, value: "hello job, ${CI_JOB_ID}x $$5", raw: false },
      RAW: { ...plain, value: "$NAME" },
      NAME: { ...plain, value: "job" },
      PATHS: { ...plain, value: "$PATHS:more" },
      DIR: { ...plain, value: "${CI_PROJECT_DIR}/out", raw: false },
      SECRET: { ...plain, value: "s$1", masked: true, file: true },
    });
  });

  test("tells how much of the history a job wants", async () => {
    const { jobs } = await serve(`
variables: {DEEP: "7"}
a: {script: x, variables: {GIT_DEPTH: "$DEEP"}}
b: {script: x, variables: {GIT_DEPTH: 0}}
c: {script: x, variables: {GIT_DEPTH: all}}
d: {script: x}
`);
    const everything = ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"];
    expect(jobs.map(({ payload }) => payload.git_info)).toEqual([
      { sha: "abc", depth: 7 },
      { sha: "abc", depth: 0, refspecs: everything },
      { sha: "abc", depth: 0, refspecs: everything },
      { sha: "abc", depth: 20 },
    ]);
  });

  test("gives the steps of run as a text, and asks for a runner that knows them", async () => {
    const { jobs } = await serve("a: {run: [{name: hi, script: echo hi}], inputs: {who: {default: you}}}");
    expect(jobs[0]).toMatchObject({ features: ["native_steps_integration"], payload: { steps: [] } });
    expect(JSON.parse(jobs[0]?.payload.run ?? "")).toEqual([{ name: "hi", script: "echo hi" }]);
    expect(jobs[0]?.payload.inputs).toEqual([
      { key: "who", value: { type: "string", content: "you", sensitive: false } },
    ]);
  });

  test("says at their places what would be lost", async () => {
    const { diagnostics } = await serve(`
a: {script: x, id_tokens: {T: {aud: a}}}
b: {script: x, resource_group: r}
c: {script: x, retry: {max: 1, exit_codes: [7]}}
`);
    expect(diagnostics.map(({ severity, code, position }) => [severity, code, position?.line])).toEqual([
      ["error", "not-supported", 2],
      ["warning", "not-supported", 3],
      ["warning", "not-supported", 4],
    ]);
  });
});
