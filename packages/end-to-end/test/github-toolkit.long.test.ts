import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sample, string } from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assertEnded, createKitUser, type Kit, startKit, stepOf } from "./github-toolkit-harness.ts";

const FACTS = `
name: Facts
description: What @actions/core is told
inputs:
  Who To Greet: {required: true, default: World}
  spaces: {default: "  kept  "}
  fetch-depth: {default: 1}
  flag: {default: true}
  lines: {default: "a\\n\\n  b  \\n"}
  empty: {}
  fail: {}
outputs:
  lines: {description: declared, and the others are not}
runs:
  using: NODE
  main: dist/facts.js
  post: dist/facts.js
`;

const phase = (name: string): string => `
name: ${name}
inputs: {name: {default: ${name}}}
runs: {using: node24, pre: DIST/phase.js, main: DIST/phase.js, post: DIST/phase.js}
`;

/** Texts that are taken for something else where a value is not only carried. */
const HOSTILE: readonly string[] = [
  "",
  "\n",
  "\r\n",
  " a \t",
  "a\rb",
  "a\u2028b\u0085c",
  "\ufeffa",
  "=",
  "name=x",
  "a<<EOF\nb\nEOF",
  "::set-output name=a::b",
  "##[error]no",
  "%0A%25",
  "$HOME `id` $(id)",
  "${{ github.workspace }}",
  "${{ steps.send.outputs.v0 }}",
  "$${{ 1 }}",
  "{{step_dir}}",
  "\u001b[31mred\u001b[0m",
  "'\"\\'",
  "-n",
];

let kit: Kit;

beforeAll(async () => {
  kit = await startKit(
    {
      "facts-cjs": FACTS.replace("NODE", "node20"),
      "facts-esm": FACTS.replace("NODE", "node24").replaceAll("dist/", "../dist/"),
      "phases/cjs": phase("in cjs").replaceAll("DIST", "dist"),
      "phases/esm": phase("in esm").replaceAll("DIST", "../../dist"),
      "phases/both": `
name: Both
runs:
  using: composite
  steps:
    - {name: inner esm, id: first, uses: $/phases/esm, with: {name: first}}
    - {uses: acme/kit/phases/cjs@v1, with: {name: second}}
`,
      "old-ways": `
inputs: {unsafe: {}, fetch-depth: {default: 1}}
runs: {using: node16, main: ../dist/old-ways.js, post: ../dist/old-ways.js}
`,
      around: `
inputs: {outer: {default: x}}
outputs: {inputs: {value: "\${{ steps.inner.outputs.inputs }}"}}
runs:
  using: composite
  steps:
    - {run: "env | grep -c ^INPUT_ || true", shell: bash}
    - {id: inner, uses: $/old-ways}
`,
      values: `
inputs: {names: {}, values: {}}
runs: {using: node24, main: ../dist/values.js, post: ../dist/values.js}
`,
      programs: "runs: {using: node24, main: ../dist/programs.js}",
    },
    {
      cjs: { "facts-cjs": ["facts"], "phases/cjs": ["phase"] },
      esm: ["facts", "phase", "programs", "old-ways", "values"],
    },
  );
});

afterAll(() => kit.close());

test.each([
  { format: "cjs", isDebug: false, message: "" },
  { format: "esm", isDebug: true, message: "Not 100%\nat all" },
])("@actions/core in an action that is $format", async ({ format, isDebug, message }) => {
  const user = createKitUser(kit);
  const summaryFile = join(user.dir, "summary.md");
  const ended = await user.ci(
    [
      {
        name: "facts",
        action: `acme/kit/facts-${format}@v1`,
        inputs: { "who TO greet": '  Ü & ${{ "x" }}::set-output name=a::b\n  second', fail: message },
      },
      {
        name: "after",
        if: "${{ always() }}",
        script:
          'echo "$FROM_CORE"; echo "$LINES_FROM_CORE"; echo "${PATH%%:*}" | sed "s:.*/::"; env | grep -c ^INPUT_ || true',
      },
    ],
    { args: ["--summary-file", summaryFile], env: isDebug ? { CI_DEBUG_TRACE: "true" } : {} },
  );
  assertEnded(ended, message === "" ? 0 : 1);
  const { stdout, trace, outputs } = ended;
  const found = await outputs("facts");
  expect(JSON.parse(found["inputs"] ?? "")).toEqual({
    who: "Ü & x::set-output name=a::b\n  second",
    spaces: "  kept  ",
    depth: "1",
    flag: true,
    lines: ["a", "b"],
    empty: "",
    undeclared: "",
  });
  expect(Number(found["node"])).toBeGreaterThanOrEqual(format === "cjs" ? 20 : 24);
  expect(found).toMatchObject({
    lines: "one\ntwo=2\nthree<<EOF\n",
    percent: "100%0A %25 ::error::no\r",
    none: "",
    "own-path": "true",
    platform: "linux",
    debug: String(isDebug),
    answer: "42",
  });
  expect(stdout).toContain('{"list":[1,2]}\na\nb\nbin dir\n0\n');
  expect(stdout).toContain("plain ::warning in the middle\n");
  expect(stdout.includes("seen only when looked for")).toBe(isDebug);
  const post = /post (.*)\nfiles true (?:true|false)\nevent object/.exec(stdout);
  expect(JSON.parse(post?.[1] ?? "")).toEqual({
    object: '{"list":[1,"zwei"]}',
    lines: "one\ntwo=2\nthree<<EOF",
    other: "",
    input: "Ü & x::set-output name=a::b\n  second",
    from: "",
  });
  expect((await stepOf(trace(), "facts")).obs?.annotations).toEqual([
    expect.objectContaining({ message: "a notice", title: "Title: 1,5%", file: "src/a b.ts", line: 3, endLine: 4 }),
    expect.objectContaining({ message: "Error: a warning\nof two lines", file: "src/x,y.ts", line: 7 }),
    expect.objectContaining({ message: "100% wrong", title: "Bad" }),
    ...(message === "" ? [] : [expect.objectContaining({ level: "error", message: `Error: ${message}` })]),
  ]);
  expect(readFileSync(summaryFile, "utf8")).toContain("<h1>Facts</h1>");
});

test("pre, main and post of bundles in one repository", async () => {
  const user = createKitUser(kit);
  const { code, stdout } = await user.ci([
    { name: "one", action: "acme/kit/phases/both@v1" },
    { name: "two", action: "acme/kit/phases/cjs@v1" },
    { name: "fails", script: "echo now; exit 3" },
  ]);
  // Its name, its phase by its own count, its id, and what the post before it has left.
  expect({ code, stdout }).toEqual({
    code: 3,
    stdout: [
      "first 1 first -",
      "second 1 __acme_kit_phases_cjs -",
      "in cjs 1 two -",
      "first 2 first -",
      "second 2 __acme_kit_phases_cjs -",
      "in cjs 2 two -",
      "now",
      "in cjs 3 two -",
      "second 3 __acme_kit_phases_cjs post of in cjs",
      "first 3 first post of second",
      "",
    ].join("\n"),
  });
});

test("@actions/exec with listeners, and @actions/io", async () => {
  const user = createKitUser(kit);
  const program = '#!/bin/sh\necho "own $*"\n';
  const ended = await user.ci([
    {
      name: "before",
      script: `mkdir -p bin; printf '%s' '${program}' > bin/from-step-before; chmod +x bin/*; step-runner set-export PATH "$PWD/bin:$PATH"`,
    },
    { name: "programs", action: "acme/kit/programs@v1" },
  ]);
  assertEnded(ended, 0);
  const { stdout, outputs } = ended;
  expect(JSON.parse((await outputs("programs"))["report"] ?? "")).toEqual({
    code: 0,
    lines: ["one ü", "a b|*||given|from input"],
    errors: ["wrong"],
    raw: "one ü\na b|*||given|from input\n",
    quiet: { exitCode: 3, stdout: true, stderr: "" },
    failed: "The process '/usr/bin/false' failed with exit code 1",
    missing: expect.stringContaining("Unable to locate executable file: no-such-program-here") as string,
    moved: "kept",
    which: true,
    own: "own",
  });
  expect(stdout).toContain("one ü\n");
  expect(stdout).toContain("[command]/usr/bin/false\n");
});

test("commands of former years, in any order of percent signs", async () => {
  const user = createKitUser(kit);
  const ended = await user.ci([
    { name: "around", action: "acme/kit/around@v1", env: { MY_INPUT_X: "kept" } },
    { name: "old", action: "acme/kit/old-ways@v1", env: { MY_INPUT_X: "kept" } },
    { name: "refused", action: "acme/kit/old-ways@v1", inputs: { unsafe: "no" } },
  ]);
  assertEnded(ended, 1);
  // Nothing of the inputs of the one is seen by the other, nor by scripts.
  expect(ended.stdout.startsWith("0\n")).toBe(true);
  expect((await ended.outputs("around"))["inputs"]).toBe('["INPUT_UNSAFE","INPUT_FETCH-DEPTH"]');
  expect(await ended.outputs("old")).toEqual({
    text: "%25 %250A %0A\r\nend:,;=]",
    kept: "kept",
    inputs: '["INPUT_UNSAFE","INPUT_FETCH-DEPTH"]',
    echoed: "yes",
  });
  const { obs } = await stepOf(ended.trace(), "old");
  expect(obs?.annotations).toEqual([{ level: "error", message: "it is wrong", file: "src/a.ts", line: 3, column: 5 }]);
  expect(ended.stdout).toContain('state "100%25 of\\nlines %0A"\n');
  expect(ended.stdout).toContain("::set-output name=echoed::yes\n");
  expect(ended.stdout).toContain("::set-output name=text::not now\n");
  const refused = await stepOf(ended.trace(), "refused");
  expect(refused.det).toMatchObject({ status: "failure" });
  expect(refused.det?.exports ?? {}).toEqual({});
});

test("values come through as they are: outputs, variables, state and inputs", async () => {
  const user = createKitUser(kit);
  // No variable holds a NUL, and no file in UTF-8 half a character.
  const text = string({ unit: "binary", maxLength: 40 }).filter((value) => !value.includes("\0"));
  const values = [...HOSTILE, ...sample(text, 40)];
  const names = values.map((_, index) => `v${index}`);
  const forward = Object.fromEntries(names.map((name) => [name, `\${{ steps.send.outputs.${name} }}`]));
  const send = { names: names.join("\n"), values: JSON.stringify(values).replaceAll("${{", "$\\u007b{") };
  const ended = await user.ci([
    { name: "send", action: "acme/kit/values@v1", inputs: send },
    { name: "receive", action: "acme/kit/values@v1", inputs: { names: names.join("\n"), ...forward } },
  ]);
  assertEnded(ended, 0);
  const sent = await ended.outputs("send");
  expect(names.map((name) => sent[name])).toEqual(values);
  const received = await ended.outputs("receive");
  expect(JSON.parse(received["env"] ?? "")).toEqual(values);
  expect(JSON.parse(received["inputs"] ?? "")).toEqual(values);
  expect(ended.stdout).toContain("changed in state: []\n");
  const replayed = await user.run(["replay", join(user.dir, "trace-0.json")]);
  assertEnded(replayed, 0);
  expect(replayed.stdout).toContain("The same");
});
