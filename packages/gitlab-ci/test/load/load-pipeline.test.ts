import { formatPosition } from "@steps/model/diagnostic";
import { describe, expect, test } from "vitest";
import type { LoadedFile } from "../../src/load/load-file.ts";
import { loadPipeline } from "../../src/load/load-pipeline.ts";
import { keywordPosition, keywordValue, type LoadedPipeline } from "../../src/load/loaded-pipeline.ts";
import { complaints, job, load, loaded, script } from "./fixtures.ts";

describe("loadPipeline()", () => {
  test("waits for files that come later", async () => {
    const loadFile = async (): Promise<LoadedFile> =>
      Promise.resolve({ source: { name: "a.yml", text: "test: {script: a}" } });
    const { pipeline } = await loadPipeline({ name: "x.yml", text: "include: a.yml" }, { loadFile });
    expect([...(pipeline?.jobs.keys() ?? [])]).toEqual(["test"]);
  });

  test("passes on what the function throws", async () => {
    const loadFile = (): Promise<LoadedFile> => Promise.reject(new Error("no network"));
    await expect(loadPipeline({ name: "x.yml", text: "include: a.yml" }, { loadFile })).rejects.toThrow("no network");
  });

  test("gives the stages between .pre and .post, and the stage of each job", () => {
    const pipeline = loaded("stages: [a, [b, .post]]\nx: {script: s, stage: b}\ny: {script: s, stage: .pre}\n");
    expect(pipeline.stages).toEqual([".pre", "a", "b", ".post"]);
    expect(job(pipeline, "x").stage).toBe("b");
    expect(loaded("x: {script: s}").stages).toEqual([".pre", "build", "test", "deploy", ".post"]);
    expect(complaints(load("stages: [build, tset]\nx: {script: s, stage: tests}"))).toEqual([
      "error unknown-stage .gitlab-ci.yml:2",
    ]);
  });

  test("takes the last of two equal keys, with a warning", () => {
    const result = load("test: {script: a}\ntest: {script: b}\n");
    expect(complaints(result)).toEqual(["warning duplicate-key .gitlab-ci.yml:2"]);
    expect(script(result.pipeline as LoadedPipeline)).toBe("b");
  });

  test("reads scalars as GitLab does", () => {
    const pipeline = loaded("test: {script: s, interruptible: yes, retry: 0x1}");
    expect(keywordValue(job(pipeline, "test"), "interruptible")).toBe(true);
    expect(keywordValue(job(pipeline, "test"), "retry")).toBe(1);
  });

  test("knows the place of every value, however it came there", () => {
    const files = {
      "base.yml": "spec: {inputs: {who: }}\n---\n.base:\n  image: alpine\n  script: ['echo $[[ inputs.who ]]']\n",
      "more.yml": ".more:\n  after_script:\n    - echo after\n",
    };
    const text =
      "include: [{local: base.yml, inputs: {who: you}}, more.yml]\ndefault:\n  tags: [x]\ntest:\n  extends: .base\n" +
      "  variables:\n    A: b\n  after_script: !reference [.more, after_script]\n";
    const test = job(loaded(text, files), "test");
    const placeOf = (...path: (string | number)[]): string => formatPosition(keywordPosition(test, path));
    expect(placeOf("image")).toBe("base.yml:4:10");
    expect(placeOf("script", 0)).toBe("base.yml:5:12");
    expect(keywordValue(test, "script")).toEqual(["echo you"]);
    expect(placeOf("after_script", 0)).toBe("more.yml:3:7");
    expect(placeOf("variables", "A")).toBe(".gitlab-ci.yml:7:8");
    expect(placeOf("tags", 0)).toBe(".gitlab-ci.yml:3:10");
    expect(placeOf("nothing")).toBe(".gitlab-ci.yml:4:1");
  });
});
