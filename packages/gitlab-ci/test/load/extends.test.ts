import { describe, expect, test } from "vitest";
import { keywordValue } from "../../src/load/loaded-pipeline.ts";
import { complaints, job, load, loaded, plain, script } from "./fixtures.ts";

describe("extends", () => {
  test("merges mappings and replaces everything else", () => {
    const text = `
.a: {script: [a], variables: {A: a, B: a}, image: {name: a, entrypoint: [x]}, tags: [a]}
.b: {variables: {B: b, C: b}, tags: ~, cache: {paths: [p]}}
test: {extends: [.a, .b], variables: {C: own}, image: {name: own}, cache: {}}
`;
    const test = job(loaded(text), "test");
    expect(plain(keywordValue(test, "variables"))).toEqual({ A: "a", B: "b", C: "own" });
    expect(plain(keywordValue(test, "image"))).toEqual({ name: "own", entrypoint: ["x"] });
    expect(plain(keywordValue(test, "cache"))).toEqual({ paths: ["p"] });
    expect(keywordValue(test, "tags")).toBeUndefined();
    expect(keywordValue(test, "script")).toEqual(["a"]);
  });

  test("reaches jobs of any file, also those that run", () => {
    const files = { "a.yml": "a: {extends: .late, script: a}\n" };
    const pipeline = loaded("include: a.yml\n.late: {image: i}\nb: {extends: a}\n", files);
    expect(keywordValue(job(pipeline, "b"), "image")).toBe("i");
    expect(script(pipeline, "b")).toBe("a");
  });

  test("goes up eleven ancestors and no further", () => {
    const chain = (count: number): string =>
      `.a0: {script: s}\n${Array.from({ length: count - 1 }, (_, n) => `.a${n + 1}: {extends: .a${n}}\n`).join("")}` +
      `test: {extends: .a${count - 1}}\n`;
    expect(script(loaded(chain(11)))).toBe("s");
    const tooDeep = ["error too-deep .gitlab-ci.yml:13"];
    expect(complaints(load(chain(12)))).toEqual(tooDeep);
    expect(complaints(load(chain(12).split("\n").toReversed().join("\n").trim()))).toEqual([
      "error too-deep .gitlab-ci.yml:1",
    ]);
    expect(complaints(load(chain(1000)))).toHaveLength(1);
  });

  test("says what is wrong with it", () => {
    expect(complaints(load("a: {extends: b, script: s}\nb: {extends: a, script: s}"))).toEqual([
      "error circular-extends .gitlab-ci.yml:2",
    ]);
    const { diagnostics } = load(
      "a: {extends: .bse, script: s}\n.base: {}\n.text: x\nb: {extends: [.text, 7], script: s}",
    );
    expect(diagnostics.map(({ code, hint }) => [code, hint])).toEqual([
      ["unknown-parent", `Did you mean ".base"?`],
      ["unknown-parent", undefined],
      ["wrong-type", undefined],
      ["wrong-type", "Quote it."],
    ]);
    expect(complaints(load("a: {extends: !reference [.b, x], script: s}\n.b: {x: .c}\n.c: {}"))).toEqual([
      "error wrong-type .gitlab-ci.yml:1",
    ]);
  });

  test("bounds what hostile files copy", () => {
    const base = `.base: {script: s, variables: {${Array.from({ length: 20_000 }, (_, n) => `V${n}: 1`).join(", ")}}}\n`;
    const jobs = Array.from({ length: 150 }, (_, n) => `j${n}: {extends: .base, variables: {A: b}}\n`).join("");
    expect(complaints(load(base + jobs))).toContainEqual(expect.stringContaining("error configuration-too-large"));
  });
});

describe("!reference", () => {
  test("sees what is included and extended, at any depth", () => {
    const files = { "a.yml": ".setup: {script: [one, two], deep: {x: {y: [three]}}}\n" };
    const text = `include: a.yml
.child: {extends: .setup, script: [!reference [.setup, script], own]}
test:
  script: [!reference [.child, script], !reference [.setup, deep, x, y]]
  variables: !reference [.vars]
.vars: {A: !reference [.values, a]}
.values: {a: b}
`;
    const pipeline = loaded(text, files);
    expect(script(pipeline)).toEqual([[["one", "two"], "own"], ["three"]]);
    expect(plain(keywordValue(job(pipeline, "test"), "variables"))).toEqual({ A: "b" });
  });

  test("is one value while jobs are merged", () => {
    const text =
      ".vars: {A: a}\n.base: {script: s, variables: {B: b}}\ntest: {extends: .base, variables: !reference [.vars]}\n";
    expect(plain(keywordValue(job(loaded(text), "test"), "variables"))).toEqual({ A: "a" });
  });

  test("says what is wrong with it", () => {
    const wrong = {
      "!reference []": "unresolved-reference",
      "!reference text": "unresolved-reference",
      "!reference [1, x]": "unresolved-reference",
      "!reference [.no, x]": "unresolved-reference",
      "!reference [.a, no]": "unresolved-reference",
      "!reference [.a, nothing]": "unresolved-reference",
      "!reference [.a, list, deeper]": "unresolved-reference",
      "!reference [test]": "circular-reference",
      "[!reference [test, script]]": "circular-reference",
    };
    for (const [value, code] of Object.entries(wrong)) {
      const { diagnostics } = load(`.a: {list: [x], nothing: ~}\ntest: {script: ${value}}\n`);
      expect(diagnostics.map((one) => one.code)).toContain(code);
    }
    const { diagnostics } = load(".base: {script: s}\ntest: {script: [!reference [.base, scrip]]}\n");
    expect(diagnostics[0]?.hint).toBe(`Did you mean "script"?`);
  });

  test("nests ten times and no further", () => {
    const chain = (count: number): string =>
      `.a0: {x: [s]}\n${Array.from({ length: count - 1 }, (_, n) => `.a${n + 1}: {x: !reference [.a${n}, x]}\n`).join("")}` +
      `test: {script: !reference [.a${count - 1}, x]}\n`;
    expect(script(loaded(chain(10)))).toEqual(["s"]);
    expect(complaints(load(chain(11)))).toEqual(["error too-deep .gitlab-ci.yml:12"]);
    const backwards = chain(1000).trim().split("\n").toReversed().join("\n");
    expect(load(backwards).diagnostics.map(({ code }) => code)).toContain("too-deep");
  });

  test("bounds what references multiply", () => {
    const many = (name: string): string =>
      `[${Array.from({ length: 20 }, () => `!reference [${name}, x]`).join(", ")}]`;
    const levels = Array.from({ length: 8 }, (_, n) => `.a${n + 1}: {x: ${many(`.a${n}`)}}\n`).join("");
    const text = `.a0: {x: [s]}\n${levels}test: {script: !reference [.a8, x]}\n`;
    expect(complaints(load(text))).toEqual(["error configuration-too-large -"]);
  });
});
