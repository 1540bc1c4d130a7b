import { describe, expect, test } from "vitest";
import { toCiValue } from "../../src/load/ci-value.ts";
import { keywordValue } from "../../src/load/loaded-pipeline.ts";
import { complaints, job, load, loaded } from "./fixtures.ts";

describe("jobs", () => {
  test("take from default what they lack and inherit", () => {
    const text =
      "default: {image: a, tags: [t], before_script: [b]}\ncache: {paths: [p]}\n" +
      "x: {script: s, image: ~, before_script: []}\ny: {script: s, inherit: {default: [tags]}}\n" +
      "z: {script: s, inherit: {default: false, variables: [A]}}\n";
    const pipeline = loaded(text);
    const keywords = (name: string): string[] => [...job(pipeline, name).keywords.keys()].toSorted();
    expect(keywords("x")).toEqual(["before_script", "cache", "image", "script", "tags"]);
    expect(keywordValue(job(pipeline, "x"), "image")).toBe("a");
    expect(keywordValue(job(pipeline, "x"), "before_script")).toEqual([]);
    expect(keywords("y")).toEqual(["inherit", "script", "tags"]);
    expect(keywords("z")).toEqual(["inherit", "script"]);
    expect(job(pipeline, "z").inheritsVariable("A")).toBe(true);
    expect(job(pipeline, "z").inheritsVariable("B")).toBe(false);
  });

  test("are one for each instance of parallel", () => {
    const text =
      "a: {script: s, parallel: 2}\n" +
      "b: {script: s, parallel: {matrix: [{P: [x, y], Q: [1, 010]}, {P: z}]}}\nc: {script: s, needs: [a, 'b: [x, 1]']}\n";
    const pipeline = loaded(text);
    expect([...pipeline.jobs.keys()]).toEqual([
      "a 1/2",
      "a 2/2",
      "b: [x, 1]",
      "b: [x, 8]",
      "b: [y, 1]",
      "b: [y, 8]",
      "b: [z]",
      "c",
    ]);
    const { instance, groupName } = job(pipeline, "b: [y, 1]");
    expect([groupName, instance?.index, instance?.total]).toEqual(["b", 3, 5]);
    expect([...(instance?.variables ?? [])].map(([name, node]) => [name, toCiValue(node)])).toEqual([
      ["P", "y"],
      ["Q", 1],
    ]);
    expect(pipeline.groups.get("a")).toHaveLength(2);
  });

  test("cannot be made of a malformed parallel", () => {
    const numbers = Array.from({ length: 15 }, (_, index) => index).join(", ");
    for (const parallel of [
      "0",
      "201",
      "two",
      "{}",
      "{matrix: []}",
      "{matrix: [{A: []}]}",
      "{matrix: [{A: [{}]}]}",
      "{matrix: [{A-B: [x]}]}",
      "{matrix: [{A: [x, x]}]}",
      `{matrix: [{A: [${numbers}], B: [${numbers}]}]}`,
    ]) {
      expect(complaints(load(`a: {script: s, parallel: ${parallel}}`))).toEqual([
        "error invalid-parallel .gitlab-ci.yml:1",
      ]);
    }
    const biggest = Array.from({ length: 200 }, (_, index) => index).join(", ");
    expect(loaded(`a: {script: s, parallel: {matrix: [{A: [${biggest}]}]}}`).jobs.size).toBe(200);
  });

  test("need jobs that exist, unless they may be absent", () => {
    const text = "a: {script: s}\nb: {script: s, needs: [{job: a}, {job: c, optional: true}, d], dependencies: [e]}";
    expect(complaints(load(text))).toEqual([
      "error unknown-needed-job .gitlab-ci.yml:2",
      "error unknown-needed-job .gitlab-ci.yml:2",
    ]);
  });
});
