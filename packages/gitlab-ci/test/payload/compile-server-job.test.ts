import { compileServerJob, type CompileServerJobResult, type ServerJob } from "@steps/gitlab-ci/payload";
import { formatDiagnostic } from "@steps/model/diagnostic";
import { expect, test } from "vitest";

const JOB: ServerJob = {
  id: 9,
  job_info: { name: "test ${{ x }}" },
  git_info: {
    repo_url: "https://gitlab-ci-token:t0ken@host/group/project.git",
    ref: "main",
    sha: "a".repeat(40),
    refspecs: ["+refs/heads/main:refs/remotes/origin/main"],
    depth: 20,
  },
  allow_git_fetch: true,
  variables: [],
  steps: [{ name: "script", script: ["make"] }],
  hooks: [],
  cache: [],
  artifacts: [],
  dependencies: [],
};

function compile(job: Partial<ServerJob>, variables: Readonly<Record<string, string>> = {}): CompileServerJobResult {
  return compileServerJob({ ...JOB, ...job }, { server: { url: "https://host" }, token: "job-token", variables });
}

interface Listed {
  readonly name: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly control?: { readonly condition?: string };
}

function stepsOf({ job, diagnostics }: CompileServerJobResult): readonly Listed[] {
  expect(diagnostics.map(formatDiagnostic)).toEqual([]);
  const definition = job?.specDefinition.definition as unknown as { readonly steps: readonly Listed[] };
  return definition.steps;
}

const variable = (key: string, value: string, more = {}) => ({
  key,
  value,
  masked: false,
  file: false,
  raw: false,
  ...more,
});

test("a payload becomes the steps of a job in GitLab's order", () => {
  const artifact = {
    name: "",
    untracked: false,
    paths: ["dist/"],
    exclude: [],
    when: "",
    artifact_type: "archive",
    artifact_format: "zip",
    expire_in: "1 week",
  };
  const steps = stepsOf(
    compile({
      steps: [
        { name: "script", script: ["make"] },
        { name: "after_script", script: ["clean"] },
      ],
      hooks: [
        { name: "pre_get_sources_script", script: ["before"] },
        { name: "post_get_sources_script", script: ["after"] },
      ],
      cache: [{ key: "k", untracked: false, policy: "", paths: ["c/"], when: "", fallback_keys: [] }],
      artifacts: [
        artifact,
        { ...artifact, paths: ["r.xml"], artifact_type: "junit", artifact_format: "gzip", when: "always" },
      ],
      dependencies: [
        { id: 3, name: "build", token: "dep", artifacts_file: {} },
        { id: 4, name: "none", token: "dep" },
      ],
    }),
  );
  expect(steps.map(({ name }) => name)).toEqual([
    "pre_get_sources_script",
    "get_sources",
    "post_get_sources_script",
    "restore_cache",
    "download_artifacts",
    "step_script",
    "after_script",
    "archive_cache",
    "upload_artifacts",
    "upload_junit",
  ]);
  const by = new Map(steps.map((step) => [step.name, step]));
  expect(by.get("get_sources")?.inputs).toMatchObject({ sha: "a".repeat(40), depth: 20, disposable: true });
  expect(by.get("download_artifacts")?.inputs["sources"]).toEqual([{ job: "build", id: 3 }]);
  expect(by.get("upload_artifacts")?.inputs).toMatchObject({ job_id: 9, job: "test \\${{ x }}", expire_in: "1 week" });
  expect(by.get("upload_junit")?.control?.condition).toContain("always()");
});

test("no value of a variable, and no token, stands in the definition", () => {
  const compiled = compile({
    variables: [variable("SECRET", "hunter2", { masked: true }), variable("CERT", "-----BEGIN", { file: true })],
    dependencies: [{ id: 3, name: "build", token: "dep-token", artifacts_file: {} }],
  });
  const text = JSON.stringify(compiled.job?.specDefinition);
  for (const value of ["hunter2", "-----BEGIN", "job-token", "dep-token", "t0ken"]) expect(text).not.toContain(value);
  expect(compiled.job?.secrets).toEqual({ job_token: "job-token", dependency_token_3: "dep-token" });
  expect(compiled.job?.variables["CERT"]).toEqual({ value: "-----BEGIN", isMasked: false, isFile: true });
  expect(compiled.job?.variables["CI_REPOSITORY_URL"]).toMatchObject({ isMasked: true });
});

test("variables are filled in: the last of a name counts, raw ones stay, those of the runner win, files are named", () => {
  const { job } = compile(
    {
      variables: [
        variable("A", "1"),
        variable("B", "$A-$RAW-$CERT-$CI_PROJECT_DIR"),
        variable("A", "2$A"),
        variable("RAW", "$A", { raw: true }),
        variable("CERT", "content", { file: true }),
        variable("CI_PROJECT_DIR", "/elsewhere"),
      ],
    },
    { CI_PROJECT_DIR: "/builds/p" },
  );
  const values = Object.fromEntries(Object.entries(job?.variables ?? {}).map(([name, { value }]) => [name, value]));
  expect(values).toMatchObject({ A: "21", B: "21-$A-$CERT-/builds/p", RAW: "$A", CERT: "content" });
});

test.each([
  [[variable("GIT_STRATEGY", "none")], true, undefined],
  [[variable("GIT_STRATEGY", "clone")], true, "clone"],
  [[], false, "clone"],
  [[], true, undefined],
])("GIT_STRATEGY %j with git fetch allowed %s", (variables, fetches, strategy) => {
  const steps = stepsOf(compile({ variables, allow_git_fetch: fetches }));
  const checkout = steps.find(({ name }) => name === "get_sources");
  expect(checkout === undefined).toBe(variables[0]?.value === "none");
  expect(checkout?.inputs["strategy"]).toBe(strategy);
});

test("run is a list of steps in the place of the scripts, and inputs are inputs", () => {
  const run = JSON.stringify([{ name: "hello", env: { WHO: "${{ job.inputs.who }}" }, script: "echo $WHO" }]);
  const compiled = compile({ steps: [], run, inputs: [{ key: "who", value: { type: "string", content: "you" } }] });
  expect(stepsOf(compiled).map(({ name }) => name)).toEqual(["get_sources", "run"]);
  expect(compiled.job?.specDefinition.spec.inputs["who"]).toMatchObject({ type: "string", default: "you" });
});

test("a job without work, and a list of steps that is none, are mistakes that are told", () => {
  expect(compile({ steps: [] }).diagnostics.map(({ code }) => code)).toEqual(["missing-script"]);
  for (const run of ["", "{", '{"a": 1}', '[{"name": "a"}]']) {
    const { job, diagnostics } = compile({ steps: [], run });
    expect([job, diagnostics.length > 0]).toEqual([undefined, true]);
  }
});
