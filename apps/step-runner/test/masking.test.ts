import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWorld, type Ended, readAll, type World } from "./harness.ts";

const CANARY = `c4nary "of' $mine/+ü-42`;
const SECOND_LINE = "second-line-of-the-canary";
const MULTI_LINE = `first-line-of-the-canary\n${SECOND_LINE}\n`;

/**
 * Returns the texts that must be in no file and on no screen: the canary, and the forms from which a reader could
 * recover it.
 */
function forms(canary: string): string[] {
  const bytes = Buffer.from(canary);
  const base64 = [0, 1, 2].map((lead) =>
    Buffer.concat([Buffer.alloc(lead, 120), bytes])
      .toString("base64")
      .slice(lead + 2, -6),
  );
  return [
    canary,
    ...base64,
    ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    encodeURIComponent(canary),
    JSON.stringify(canary).slice(1, -1),
  ].map((form) => Buffer.from(form).toString("latin1"));
}

/** Prints the variable `T` in every form, whole and in pieces, to both streams, to the outputs and to the exports. */
const LEAK = `import { appendFileSync, writeSync } from "node:fs";
const text = process.env.T;
const bytes = Buffer.from(text);
for (const lead of ["", "x", "xx"]) {
  const all = Buffer.concat([Buffer.from(lead), bytes]);
  console.log(all.toString("base64"), all.toString("base64url"));
}
console.log(bytes.toString("hex"), bytes.toString("hex").toUpperCase(), encodeURIComponent(text), JSON.stringify(text));
const half = bytes.length >> 1;
for (const stream of [1, 2]) {
  writeSync(stream, Buffer.concat([Buffer.from("<"), bytes.subarray(0, half)]));
  await new Promise((resolve) => setTimeout(resolve, 150));
  writeSync(stream, Buffer.concat([bytes.subarray(half), Buffer.from(">\\n")]));
}
const inside = "a " + bytes.toString("base64") + " z";
for (const [name, value] of [["plain", text], ["inside", inside]]) {
  appendFileSync(process.env.STEP_OUTPUT_FILE, JSON.stringify({ name, value }) + "\\n");
}
appendFileSync(process.env.STEP_EXPORT_FILE, JSON.stringify({ name: "EXPORTED", value: "x" + text }) + "\\n");
`;
const NODE = process.execPath;

function findLeaks(world: World, ended: readonly Ended[], canaries: readonly string[]): string[] {
  const files = [
    ...readAll(join(world.dir, "state")),
    ...readAll(world.work),
    ...readAll(join(world.dir, "cache")),
  ].filter(({ path }) => !path.endsWith("/leak.mjs") && !path.includes("/cache/step-runner/v1/code/"));
  expect(files.some(({ path }) => path.endsWith("trace.jsonl"))).toBe(true);
  const screens = ended.flatMap(({ stdout, stderr }, index) => [
    { path: `stdout ${index}`, content: Buffer.from(stdout).toString("latin1") },
    { path: `stderr ${index}`, content: Buffer.from(stderr).toString("latin1") },
  ]);
  return [...files, ...screens].flatMap(({ path, content }) =>
    canaries
      .flatMap(forms)
      .filter((form) => content.includes(form))
      .map((form) => `${path}: ${form}`),
  );
}

/** Runs a job that leaks `T` wherever it can, shows, replays and recovers it, and gives all that was printed. */
async function leakEverywhere(
  world: World,
  flags: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ended[]> {
  writeFileSync(join(world.work, "leak.mjs"), LEAK);
  const STEPS = `
- name: leak
  script: '${NODE} leak.mjs'
  env: {T: '\${{ vars.CI_CANARY }}'}
- name: use
  script: 'echo "got \${{ steps.leak.outputs.inside }} $EXPORTED"'
- name: fail
  script: 'echo "$EXPORTED" >&2; exit 9'
`;
  const base = ["--output-file", "trace.json", "--step-results-file", "result.json", ...flags];
  const first = await world.ci(STEPS, base, { env });
  const text = ["--step-results-file", "result.txtpb", "--step-results-format", "prototext", ...flags];
  const second = await world.ci(STEPS, text, { env });
  expect([first.code, second.code], first.stderr).toEqual([9, 9]);
  const secrets = ["--secret", "CI_CANARY=env:CI_CANARY"];
  return [
    first,
    second,
    await world.run(["trace", "show", "trace.json"]),
    await world.run(["trace", "recover", world.runs()[0] as string]),
    await world.run(["replay", "trace.json", ...secrets], { env }),
    await world.run(["replay", "trace.json", ...secrets, "--report", "json"], { env }),
  ];
}

describe("a secret is in no file and on no screen", () => {
  test("as a masked variable", async () => {
    const world = createWorld();
    const ended = await leakEverywhere(world, ["--mask-variable", "CI_CANARY"], { CI_CANARY: CANARY });
    expect(ended[0]?.stdout).toContain("<[MASKED]>");
    expect(ended[0]?.stdout).toContain("got a [MASKED] z");
    expect(findLeaks(world, ended, [CANARY])).toEqual([]);
  });

  test("as the last of many that are long", async () => {
    const world = createWorld();
    const lines = (secret: number): string[] =>
      Array.from({ length: 200 }, (_, line) => `line ${line} of the secret ${secret}, which has many like it`);
    const names = Array.from({ length: 11 }, (_, at) => `CI_SECRET_${at}`);
    const env = Object.fromEntries(names.map((name, at) => [name, lines(at).join("\n")]));
    env["CI_SECRET_10"] = CANARY;
    const STEPS = `[{name: a, script: 'echo "<$LAST>"; echo "$LONG" | tail -n 1', env: {LAST: '\${{ vars.CI_SECRET_10 }}', LONG: '\${{ vars.CI_SECRET_9 }}'}}]`;
    const flags = ["--mask-variable", names.join(","), "--output-file", "trace.json"];
    const ended = await world.ci(STEPS, flags, { env });
    expect(ended.stdout).toBe("<[MASKED]>\n[MASKED]\n");
    expect(findLeaks(world, [ended], [CANARY, lines(9)[199] ?? ""])).toEqual([]);
  });

  test("as a masked variable of several lines, line by line too", async () => {
    const world = createWorld();
    const ended = await leakEverywhere(world, ["--mask-variable", "CI_CANARY"], { CI_CANARY: MULTI_LINE });
    expect(findLeaks(world, ended, [MULTI_LINE, SECOND_LINE])).toEqual([]);
  });

  test("as a value of --mask that steps find by themselves", async () => {
    const world = createWorld();
    mkdirSync(join(world.dir, "elsewhere"));
    writeFileSync(join(world.dir, "elsewhere/canary"), CANARY);
    const STEPS = `[{name: a, script: 'T="$(cat ../elsewhere/canary)" ${NODE} leak.mjs'}, {name: b, script: 'echo "$P"; exit 9', env: {P: '\${{ steps.a.outputs.plain }}'}}]`;
    writeFileSync(join(world.work, "leak.mjs"), LEAK);
    const flags = ["--mask", CANARY, "--step-results-file", "result.json"];
    const ended = await world.ci(STEPS, ["--output-file", "trace.json", ...flags]);
    expect(ended.code, ended.stderr).toBe(9);
    expect(ended.stdout).toContain("<[MASKED]>");
    const shown = await world.run(["trace", "show", "trace.json"]);
    expect(findLeaks(world, [ended, shown], [CANARY])).toEqual([]);
  });

  test("as a sensitive input and as a sensitive output", async () => {
    const world = createWorld();
    for (const [name, text] of [
      [
        "make",
        `spec:
  outputs:
    token: {type: string, sensitive: true}
---
exec:
  command: [sh, -c, 'echo "{\\"name\\":\\"token\\",\\"value\\":\\"c4nary \\\\\\"of mine\\\\\\" 42\\"}" >>"$1"', sh, '\${{ output_file }}']
`,
      ],
      [
        "take",
        `spec:
  inputs:
    token: {type: string, sensitive: true}
---
exec:
  command: [sh, -c, 'echo "$1"; printf %s "$1" | base64; exit 9', sh, '\${{ inputs.token }}']
`,
      ],
    ] as const) {
      mkdirSync(join(world.work, name));
      writeFileSync(join(world.work, name, "step.yml"), text);
    }
    const canary = 'c4nary "of mine" 42';
    const STEPS =
      "[{name: make, step: ./make}, {name: take, step: ./take, inputs: {token: '${{ steps.make.outputs.token }}'}}]";
    const flags = ["--output-file", "trace.json", "--step-results-file", "result.json"];
    const chained = await world.ci(STEPS, flags);
    expect(chained).toMatchObject({ code: 9, stdout: expect.stringContaining("[MASKED]\n") });
    const typed = await world.run([
      "run",
      "./take",
      "--inputs",
      `token=${JSON.stringify(canary)}`,
      "--output-file",
      "typed.json",
    ]);
    expect(typed.code, typed.stderr).toBe(9);
    const shown = await world.run(["trace", "show", "trace.json"]);
    const replayed = await world.run(["replay", "typed.json"]);
    expect(replayed.code).toBe(13);
    expect(readAll(world.work).map(({ path }) => path)).toContain(join(world.work, "result.json"));
    const leaks = findLeaks(world, [chained, typed, shown, replayed], [canary]);
    expect(leaks.filter((leak) => !leak.includes("/work/make/"))).toEqual([]);
  });

  test("in errors: of expressions, inputs, references and programs that are not there", async () => {
    const world = createWorld();
    const jobs = [
      "[{name: a, step: './${{ vars.CI_CANARY }}'}]",
      "[{name: a, step: 'http://user:${{ vars.CI_CANARY }}@127.0.0.1:1/x@main'}]",
      "[{name: a, step: 'git+http://127.0.0.1:1/${{ vars.CI_CANARY }}@main'}]",
      "[{name: a, exec: {command: ['${{ vars.CI_CANARY }}']}}]",
      "[{name: a, exec: {command: [ls], work_dir: '${{ vars.CI_CANARY }}'}}]",
      "[{name: a, script: 'echo {}', inputs: {x: '${{ vars.CI_CANARY }}'}}]",
      "[{name: a, exec: {command: [echo, '${{ num(vars.CI_CANARY) }}']}}]",
      "[{name: a, script: 'echo \"$T\" >>$STEP_OUTPUT_FILE', env: {T: '${{ vars.CI_CANARY }}'}}]",
      "[{name: a, script: 'echo \"$T\" >>$STEP_EXPORT_FILE', env: {T: '${{ vars.CI_CANARY }}'}}]",
    ];
    const canary = "c4nary-of-mine-42";
    const ended: Ended[] = [];
    for (const job of jobs) {
      const env = { CI_CANARY: canary };
      const one = await world.ci(job, ["--mask-variable", "CI_CANARY", "--output-file", "trace.json"], { env });
      expect(one.code, job).not.toBe(0);
      ended.push(one);
    }
    expect(findLeaks(world, ended, [canary])).toEqual([]);
  });
});
