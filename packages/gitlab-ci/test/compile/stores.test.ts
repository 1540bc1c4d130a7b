import type { StepInvocation } from "@steps/model/definition";
import { describe, expect, test } from "vitest";
import { brief, type Options, translate, translated } from "./fixtures.ts";

function listOf(keywords: string, options: Options = {}): readonly StepInvocation[] {
  const text = `test:\n  script: a\n  variables: {REF: main, POLICY: pull}\n${keywords}`;
  const { definition } = translated(text, options).specDefinition;
  if (definition.type !== "steps") throw new Error("Not a list of steps");
  return definition.steps;
}

function namesOf(keywords: string, options: Options = {}): readonly string[] {
  return listOf(keywords, options).map(({ name }) => name);
}

const AFTER_FAILURE = "${{ (failure() || cancelled()) && !timed_out() }}";
const IN_ANY_CASE = "${{ always() && !timed_out() }}";

describe("cache", () => {
  test("is restored before the script and saved behind it, with expressions for variables", () => {
    const [restore, , save] = listOf("  cache: {key: a-$REF-$NONE, paths: [x/$REF], fallback_keys: [b-$REF]}\n");
    const cache = { key: 'a-${{ vars["REF"] }}-', paths: ['x/${{ vars["REF"] }}'] };
    expect(restore).toMatchObject({
      name: "restore_cache",
      step: { kind: "dist", path: "gitlab/cache-restore" },
      inputs: { cache_dir: "${{ inputs.cache_dir }}", caches: [{ ...cache, fallback_keys: ['b-${{ vars["REF"] }}'] }] },
    });
    expect(save).toMatchObject({ name: "archive_cache", inputs: { caches: [cache] } });
    expect(save?.control).toBeUndefined();
  });

  test.each([
    ["  cache: {paths: [x], policy: pull}\n", ["restore_cache", "step_script"]],
    ["  cache: {paths: [x], policy: push}\n", ["step_script", "archive_cache"]],
    ["  cache: {paths: [x], policy: $POLICY}\n", ["restore_cache", "step_script"]],
    ["  cache: {key: x}\n", ["step_script"]],
    ["  cache: []\n", ["step_script"]],
    ["  cache: {untracked: true}\n", ["restore_cache", "step_script", "archive_cache"]],
    [
      "  cache: [{paths: [x]}, {paths: [y], when: always}]\n",
      ["restore_cache", "step_script", "archive_cache", "archive_cache_on_failure"],
    ],
  ])("%j", (keywords, names) => {
    expect(namesOf(keywords)).toEqual(names);
  });

  test("is saved after the ends of the job that it names", () => {
    expect(listOf("  cache: {paths: [x], when: on_failure}\n")[2]?.control).toEqual({ condition: AFTER_FAILURE });
    expect(listOf("  cache: {paths: [x], when: always}\n")[2]?.control).toEqual({ condition: IN_ANY_CASE });
    const mixed = listOf("  cache: [{paths: [x]}, {paths: [y], when: always}, {paths: [z], when: on_failure}]\n");
    expect(mixed.slice(2).map(({ inputs, control }) => [inputs["caches"], control?.condition])).toEqual([
      [[expect.objectContaining({ paths: ["x"] }), expect.objectContaining({ paths: ["y"] })], undefined],
      [[expect.objectContaining({ paths: ["y"] }), expect.objectContaining({ paths: ["z"] })], AFTER_FAILURE],
    ]);
  });

  test.each([
    ["{files: [a, $REF], prefix: p-$REF}", { files: ["a", '${{ vars["REF"] }}'], prefix: 'p-${{ vars["REF"] }}' }],
    ["{files_commits: [a]}", { files_commits: ["a"] }],
    ["~", "default"],
  ])("has the key %s", (key, value) => {
    expect(listOf(`  cache: {key: ${key}, paths: [x]}\n`)[0]?.inputs["caches"]).toMatchObject([{ key: value }]);
  });

  test("with a policy that is none is refused", () => {
    const text = "test:\n  script: a\n  variables: {P: of}\n  cache: {paths: [x], policy: $P}\n";
    expect(brief(translate(text).diagnostics)).toEqual(["error invalid-value 4"]);
  });

  test("needs its folder as an input of the job", () => {
    const { spec } = translated("test: {script: a, cache: {paths: [x]}}\n").specDefinition;
    expect(Object.keys(spec.inputs)).toEqual(["cache_dir"]);
    expect(brief(translate("test: {script: a, inputs: {cache_dir: {default: x}}}\n").diagnostics)).toEqual([
      "error invalid-name 1",
    ]);
  });
});

describe("artifacts", () => {
  test("are kept behind the script, and unpacked before it", () => {
    const [download, , upload] = listOf(
      "  artifacts: {name: $REF, paths: [dist/], exclude: ['**/*.o'], expire_in: 1 week, untracked: true}\n",
      { artifactsFrom: ["build: [a]", "${{ x }}"] },
    );
    expect(download).toMatchObject({
      name: "download_artifacts",
      step: { path: "gitlab/artifacts-download" },
      inputs: { artifacts_dir: "${{ inputs.artifacts_dir }}", sources: [{ job: "build: [a]" }, { job: "\\${{ x }}" }] },
    });
    expect(upload?.inputs).toEqual({
      artifacts_dir: "${{ inputs.artifacts_dir }}",
      job: "test",
      name: '${{ vars["REF"] }}',
      paths: ["dist/"],
      exclude: ["**/*.o"],
      expire_in: "1 week",
      untracked: true,
    });
  });

  test("have reports, which are kept in any case", () => {
    const reports =
      "reports: {junit: r.xml, dotenv: [b.env], coverage_report: {coverage_format: cobertura, path: c.xml}}";
    const [, dotenv, only] = listOf(`  artifacts: {${reports}}\n`);
    expect(dotenv).toMatchObject({
      name: "report_dotenv",
      inputs: { files: ["b.env"] },
      control: { condition: IN_ANY_CASE },
    });
    expect(only).toMatchObject({
      name: "upload_artifacts",
      inputs: { reports: { junit: ["r.xml"], coverage_report: ["c.xml"] } },
      control: { condition: IN_ANY_CASE },
    });
    const both = listOf(`  artifacts: {paths: [a], ${reports}}\n`).slice(2);
    expect(both.map(({ name, inputs, control }) => [name, "paths" in inputs, control?.condition])).toEqual([
      ["upload_artifacts", true, undefined],
      ["upload_reports", false, AFTER_FAILURE],
    ]);
    expect(namesOf(`  artifacts: {paths: [a], when: always, ${reports}}\n`).slice(2)).toEqual(["upload_artifacts"]);
  });

  test("that name nothing make no step", () => {
    expect(namesOf("  artifacts: {expire_in: 1 day}\n")).toEqual(["step_script"]);
  });
});

test("the phases of a job come in the order of the runner", () => {
  const keywords =
    "  after_script: [b]\n  hooks: {pre_get_sources_script: [c]}\n  cache: {paths: [x]}\n" +
    "  artifacts: {paths: [y], reports: {dotenv: z}}\n";
  expect(namesOf(keywords, { artifactsFrom: ["build"] })).toEqual([
    "pre_get_sources_script",
    "restore_cache",
    "download_artifacts",
    "step_script",
    "after_script",
    "report_dotenv",
    "archive_cache",
    "upload_artifacts",
  ]);
});
