import { describe, expect, test } from "vitest";
import { keywordValue } from "../../src/load/loaded-pipeline.ts";
import { complaints, job, load, loaded, plain, script } from "./fixtures.ts";

/** Loads a file that is included with inputs. */
const included = (header: string, config: string, inputs: string): [string, Record<string, string>] => [
  `include: {local: a.yml, inputs: ${inputs}}\n`,
  { "a.yml": `spec: ${header}\n---\n${config}\n` },
];

describe("inputs", () => {
  test("keep their type where they are the whole value, and become text elsewhere", () => {
    const header = "{inputs: {t: , n: {type: number}, b: {type: boolean}, l: {type: array}}}";
    const config = `"$[[ inputs.t ]]-job":
  script: $[[ inputs.l ]]
  retry: $[[ inputs.n ]]
  interruptible: $[[inputs.b]]
  variables: {V: "$[[ inputs.t ]] $[[ inputs.n ]] $[[ inputs.b ]] $[[ inputs.l ]] $[[ inputs.t ]]"}`;
    const pipeline = loaded(...included(header, config, "{t: '010', n: 2, b: yes, l: [a, 'b', [c]]}"), {});
    const found = pipeline.root.entries.get("010-job");
    expect(found).toBeDefined();
    const test = job(pipeline, "010-job");
    expect(keywordValue(test, "retry")).toBe(2);
    expect(keywordValue(test, "interruptible")).toBe(true);
    expect(plain(keywordValue(test, "variables"))).toEqual({ V: '010 2 true ["a", "b", ["c"]] 010' });
  });

  test("are not looked at again, and cannot make other YAML", () => {
    const pipeline = loaded(
      ...included("{inputs: {a: , b: }}", "test: {script: ['$[[ inputs.a ]]']}", "{a: '$[[ inputs.b ]]', b: 'x: [y'}"),
    );
    expect(script(pipeline)).toEqual(["$[[ inputs.b ]]"]);
  });

  test("are left alone in a file without a header, and for a matrix", () => {
    expect(script(loaded("test: {script: '$[[ inputs.a ]]'}"))).toBe("$[[ inputs.a ]]");
    const text = "test: {script: '$[[ inputs.a ]] $[[ matrix.A ]]'}";
    expect(script(loaded(...included("{inputs: {a: {default: b}}}", text, "{}")))).toBe("b $[[ matrix.A ]]");
  });

  test("take the default when nothing is given", () => {
    const header = "{inputs: {a: {default: x}, n: {type: number, default: 0}, e: {default: ''}}}";
    const text = "test: {script: '$[[ inputs.a ]]$[[ inputs.n ]]$[[ inputs.e ]]'}";
    expect(script(loaded(...included(header, text, "{a: ~}")))).toBe("x0");
  });

  test("are given to the file of the pipeline by the caller", () => {
    const text = "spec: {inputs: {n: {type: number}}}\n---\ntest:\n  script: s\n  retry: $[[ inputs.n ]]\n";
    expect(keywordValue(job(loaded(text, {}, { inputs: { n: 2 } }), "test"), "retry")).toBe(2);
    expect(complaints(load(text))).toEqual(["error missing-pipeline-input .gitlab-ci.yml:1"]);
    expect(complaints(load(text, {}, { inputs: { n: "2" } }))).toEqual(["error invalid-pipeline-input <inputs>:1"]);
  });

  test("say what does not fit their declaration", () => {
    const cases: readonly (readonly [string, string, string])[] = [
      ["{inputs: {a: }}", "{}", "missing-pipeline-input"],
      ["{inputs: {a: {default: x}}}", "{b: x}", "unknown-pipeline-input"],
      ["{inputs: {a: }}", "{a: 1.0}", "invalid-pipeline-input"],
      ["{inputs: {a: {type: number}}}", "{a: x}", "invalid-pipeline-input"],
      ["{inputs: {a: {type: boolean}}}", "{a: 'true'}", "invalid-pipeline-input"],
      ["{inputs: {a: {type: array}}}", "{a: x}", "invalid-pipeline-input"],
      ["{inputs: {a: {type: number, default: x}}}", "{}", "invalid-pipeline-input"],
      ["{inputs: {a: {options: [x, y]}}}", "{a: z}", "invalid-pipeline-input"],
      ["{inputs: {a: {type: number, options: [1, 2]}}}", "{a: 3}", "invalid-pipeline-input"],
      ["{inputs: {a: {regex: ^x}}}", "{a: y}", "invalid-pipeline-input"],
      ["{inputs: {a: {regex: '('}}}", "{a: y}", "invalid-header"],
      ["{inputs: {a: {type: text}}}", "{a: y}", "invalid-header"],
      ["{inputs: {a: {typ: string}}}", "{a: y}", "unknown-key"],
      ["{inputs: {a: {type: number, regex: x}}}", "{a: 1}", "invalid-header"],
      ["{inputs: {a: {type: boolean, options: [true]}}}", "{a: true}", "invalid-header"],
      ["{inputs: [a]}", "{}", "invalid-header"],
      ["{inputs: {a: x}}", "{a: x}", "invalid-header"],
      ["[]", "{}", "invalid-header"],
      ["{input: {a: }}", "{}", "unknown-key"],
    ];
    const matchPattern = (pattern: string, text: string): boolean | { message: string } =>
      pattern === "(" ? { message: "not closed" } : new RegExp(pattern).test(text);
    for (const [header, inputs, code] of cases) {
      const { diagnostics } = load(...included(header, "test: {script: s}", inputs), { matchPattern });
      expect([header, inputs, ...diagnostics.map((one) => one.code)]).toContain(code);
    }
    const fitting = included(
      "{inputs: {a: {regex: ^x, options: [xy]}}}",
      "test: {script: '$[[ inputs.a ]]'}",
      "{a: xy}",
    );
    expect(script(loaded(...fitting, { matchPattern }))).toBe("xy");
    expect(complaints(load(...fitting))).toEqual(["error not-supported a.yml:1"]);
  });

  test("have options and a default by the first rule that holds", () => {
    const header =
      "{inputs: {env: {default: dev}, size: {rules: [{if: \"$[[ inputs.env ]] == 'prod'\", options: [big], default: big}, {options: [small, tiny], default: small}]}}}";
    const config = "test: {script: '$[[ inputs.size ]]'}";
    const inputCondition = (_: unknown, inputs: ReadonlyMap<string, unknown>): boolean => inputs.get("env") === "prod";
    expect(script(loaded(...included(header, config, "{}"), { inputCondition }))).toBe("small");
    expect(script(loaded(...included(header, config, "{env: prod}"), { inputCondition }))).toBe("big");
    const wrong = load(...included(header, config, "{env: prod, size: tiny}"), { inputCondition });
    expect(complaints(wrong)).toEqual(["error invalid-pipeline-input .gitlab-ci.yml:1"]);
    expect(complaints(load(...included(header, config, "{}")))).toContain("error not-supported a.yml:1");
    const circle =
      "{inputs: {a: {rules: [{if: '$[[ inputs.b ]]', default: x}]}, b: {rules: [{if: '$[[ inputs.a ]]', default: x}]}}}";
    expect(complaints(load(...included(circle, config, "{}"), { inputCondition }))).toContain(
      "error circular-inputs a.yml:1",
    );
  });

  test("may be declared in other files", () => {
    const files = {
      "a.yml":
        "spec: {include: [inputs.yml], inputs: {b: {default: y}}}\n---\ntest: {script: '$[[ inputs.a ]]$[[ inputs.b ]]'}",
      "inputs.yml": "inputs: {a: {default: x}}",
    };
    expect(script(loaded("include: a.yml", files))).toBe("xy");
    const twice = { ...files, "inputs.yml": "inputs: {a: , b: }\njob: {}" };
    expect(complaints(load("include: {local: a.yml, inputs: {a: x, b: x}}", twice))).toEqual([
      "error invalid-header a.yml:1",
      "error invalid-header inputs.yml:2",
    ]);
  });

  test("know the component that they are in", () => {
    const files = {
      "x.com/g/greet@main":
        "spec: {component: [name, version, reference]}\n---\ntest: {script: '$[[ component.name ]]@$[[ component.reference ]]$[[ component.version ]]'}",
    };
    expect(script(loaded("include: {component: x.com/g/greet@main}", files))).toBe("greet@main");
    const undeclared = {
      "x.com/g/greet@main": "spec: {component: [name]}\n---\ntest: {script: '$[[ component.sha ]]'}",
    };
    expect(complaints(load("include: {component: x.com/g/greet@main}", undeclared))).toEqual([
      "error invalid-interpolation x.com/g/greet@main:3",
    ]);
  });
});

describe("functions of $[[ ]]", () => {
  const call = (value: string, calls: string): ReturnType<typeof load> =>
    load(
      ...included("{inputs: {a: }}", `test: {script: ["$[[ inputs.a | ${calls} ]]"]}`, `{a: ${JSON.stringify(value)}}`),
      {
        variables: { V: "<$W>", W: "w", SECRET: "s" },
        masked: new Set(["SECRET"]),
      },
    );

  test.each([
    ["x $V ${V} %V% $NO", "expand_vars", "x <$W> <$W> <$W> $NO"],
    ["0123456789", "truncate(2, 3)", "234"],
    ["0123456789", "truncate(20,3)", ""],
    ["a😀b", "truncate(1,1)", "😀"],
    ["it's $HOME ü", "posix_escape", String.raw`it\'s\ \$HOME\ \ü`],
    ["", "posix_escape", "''"],
    ["a\nb", "posix_escape", "a'\n'b"],
    ["a b", "expand_vars | truncate(0,1) | posix_escape", "a"],
  ])("of %j by %s gives %j", (value, calls, expected) => {
    const { pipeline, diagnostics } = call(value, calls);
    expect(diagnostics).toEqual([]);
    expect(pipeline && script(pipeline)).toEqual([expected]);
  });

  test("make a list of a text", () => {
    const { pipeline } = call("a, b,,c ", "split(',')");
    expect(pipeline && script(pipeline)).toEqual([["a", "b", "c"]]);
  });

  test.each([
    ["expand_var", "expand_vars"],
    ["truncate(1)", undefined],
    ["split('')", undefined],
    ["posix_escape | posix_escape | posix_escape | posix_escape", undefined],
  ])("refuse %s", (calls, guess) => {
    const { diagnostics } = call("x", calls);
    expect(diagnostics.map(({ code }) => code)).toEqual(["invalid-interpolation"]);
    expect(diagnostics[0]?.hint).toEqual(guess === undefined ? undefined : `Did you mean "${guess}"?`);
  });

  test("do not show what is masked", () => {
    expect(call("x$SECRET", "expand_vars").diagnostics[0]?.message).toContain("masked");
  });

  test("say where a block names nothing", () => {
    const header = "{inputs: {name: {default: x}}}";
    const { diagnostics } = load(...included(header, "test:\n  script:\n    - say $[[ inputs.nam ]]", "{}"));
    const [{ code, hint, position } = {}] = diagnostics;
    expect([code, hint, position?.line, position?.column]).toEqual([
      "invalid-interpolation",
      `Did you mean "name"?`,
      5,
      11,
    ]);
    for (const access of ["name", "input.name", "inputs.name.x"]) {
      expect(complaints(load(...included(header, `test: {script: '$[[ ${access} ]]'}`, "{}")))).toEqual([
        "error invalid-interpolation a.yml:3",
      ]);
    }
  });

  test("bounds what inputs multiply", () => {
    const files: Record<string, string> = {};
    for (let n = 0; n < 40; n++) {
      files[`${n}.yml`] =
        `spec: {inputs: {a: {type: array}, t: }}\n---\ninclude: {local: ${n + 1}.yml, inputs: {a: ["$[[ inputs.a ]]", "$[[ inputs.a ]]"], t: "$[[ inputs.t ]]$[[ inputs.t ]]"}}\n`;
    }
    files["40.yml"] = "test: {script: s}";
    const text = "include: {local: 0.yml, inputs: {a: [x], t: text}}";
    expect(load(text, files).diagnostics.map(({ code }) => code)).toContain("configuration-too-large");
  });
});
