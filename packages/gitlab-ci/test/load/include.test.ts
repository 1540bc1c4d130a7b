import { describe, expect, test } from "vitest";
import { toCiValue } from "../../src/load/ci-value.ts";
import type { LoadPipelineOptions } from "../../src/load/load-pipeline.ts";
import { keywordValue } from "../../src/load/loaded-pipeline.ts";
import { complaints, type Files, job, load, loaded, plain, script } from "./fixtures.ts";

describe("include", () => {
  test("merges what is included under what includes it, in order", () => {
    const files = {
      "a.yml": "test: {script: [a], variables: {A: a, B: a}, tags: [a]}\n",
      "ci/b.yaml": "test: {variables: {B: b, C: b}}\n",
    };
    const pipeline = loaded("include: [a.yml, {local: /ci/b.yaml}]\ntest: {variables: {C: own}}\n", files);
    expect(plain(keywordValue(job(pipeline, "test"), "variables"))).toEqual({ A: "a", B: "b", C: "own" });
    expect(script(pipeline)).toEqual(["a"]);
    expect(pipeline.sources.map(({ name }) => name)).toEqual([".gitlab-ci.yml", "a.yml", "ci/b.yaml"]);
  });

  test("finds every kind of file, with variables in what names it", () => {
    const files = {
      "https://example.com/r.yml": "remote: {script: s}",
      "group/shared@v1:ci/p.yml": "include: q.yml\nproject: {script: s}",
      "group/shared@v1:q.yml": "nested: {script: s}",
      "template:Auto.yml": "template: {script: s}",
      "example.com/group/greet@1": "component: {script: s}",
    };
    const text = `include:
  - https://$HOST/r.yml
  - {project: group/$NAME, ref: v1, file: [/ci/p.yml]}
  - template: Auto.yml
  - component: $HOST/group/greet@1
`;
    const pipeline = loaded(text, files, { variables: { HOST: "example.com", NAME: "shared" } });
    expect([...pipeline.jobs.keys()]).toEqual(["remote", "nested", "project", "template", "component"]);
  });

  test("takes all files that a wildcard names, in the order of their names", () => {
    const files = { "ci/b.yml": "b: {script: s}", "ci/a.yml": "a: {script: s}", "ci/x/c.yml": "c: {script: s}" };
    const listFiles = (): string[] => ["README.md", ...Object.keys(files)];
    const names = (pattern: string): string[] => [
      ...loaded(`include: '${pattern}'\nz: {script: s}`, files, { listFiles }).jobs.keys(),
    ];
    expect(names("ci/*.yml")).toEqual(["a", "b", "z"]);
    expect(names("ci/**.yml")).toEqual(["a", "b", "c", "z"]);
    expect(names("ci/**/*.yml")).toEqual(["c", "z"]);
    expect(complaints(load("include: 'no/*.yml'\nz: {script: s}", files, { listFiles }))).toEqual([
      "note include-failed .gitlab-ci.yml:1",
    ]);
    expect(complaints(load("include: 'no/*.yml'\nz: {script: s}", files))).toEqual([
      "error include-failed .gitlab-ci.yml:1",
    ]);
  });

  test("asks whether rules let a file in", () => {
    const files = { "a.yml": "a: {script: s}", "b.yml": "b: {script: s}" };
    const text = "include: [{local: a.yml, rules: [{if: yes}]}, {local: b.yml, rules: [{if: 'no'}]}]\n";
    const asked: unknown[] = [];
    const includeRules: LoadPipelineOptions["includeRules"] = (rules, { context }) => {
      asked.push(context);
      return JSON.stringify(toCiValue(rules)).includes("true");
    };
    expect([...loaded(text, files, { includeRules }).jobs.keys()]).toEqual(["a"]);
    expect(asked).toEqual([{}, {}]);
    expect(complaints(load(text, files))).toContain("error not-supported .gitlab-ci.yml:1");
  });

  test("says what is wrong with an include, and where", () => {
    const wrong: Files = {
      "include: 7": "invalid-include",
      "include: {lokal: a.yml}": "invalid-include",
      "include: {local: a.yml, remote: 'https://x/a.yml'}": "invalid-include",
      "include: {local: a.yml, input: {}}": "unknown-key",
      "include: a.txt": "invalid-include",
      "include: ../a.yml": "invalid-include",
      "include: ./a.yml": "invalid-include",
      "include: {project: a/b}": "invalid-include",
      "include: {remote: 'ftp://x/a.yml'}": "invalid-include",
      "include: {remote: 'https://x/a.yml', integrity: md5}": "invalid-include",
      "include: no.yml": "include-failed",
      "include: empty.yml": "invalid-file",
      "include: list.yml": "invalid-file",
      "include: broken.yml": "yaml-syntax",
    };
    const files = { "a.yml": "a: {script: s}", "empty.yml": "", "list.yml": "[a]", "broken.yml": "a: [" };
    for (const [text, code] of Object.entries(wrong)) {
      const { diagnostics } = load(`${text}\nz: {script: s}\n`, { ...files, "https://x/a.yml": "a: {script: s}" });
      expect(diagnostics.map((one) => one.code)).toContain(code);
    }
  });

  test("refuses local files from a file of no project", () => {
    const files = { "https://x/r.yml": "include: a.yml\n", "a.yml": "a: {script: s}" };
    expect(complaints(load("include: https://x/r.yml\nz: {script: s}", files))).toEqual([
      "error invalid-include https://x/r.yml:1",
    ]);
  });

  test("refuses circles and more than 150 files", () => {
    expect(complaints(load("include: a.yml\nz: {script: s}", { "a.yml": "include: a.yml" }))).toEqual([
      "error include-cycle a.yml:1",
    ]);
    const round = { "a.yml": "include: b.yml", "b.yml": "include: c.yml", "c.yml": "include: a.yml" };
    const [{ message } = {}] = load("include: a.yml\nz: {script: s}", round).diagnostics;
    expect(message).toBe(`"a.yml" includes itself by way of "b.yml", "c.yml"`);
    const many = `include: [${Array.from({ length: 151 }, () => "a.yml").join(", ")}]\nz: {script: s}`;
    expect(complaints(load(many, { "a.yml": "a: {script: s}" }))).toEqual(["error too-many-includes .gitlab-ci.yml:1"]);
    const two = { "a.yml": "include: [b.yml, b.yml]", "b.yml": "include: [c.yml, c.yml]", "c.yml": "c: {script: s}" };
    expect([...loaded("include: [a.yml, a.yml]", two).jobs.keys()]).toEqual(["c"]);
  });
});
