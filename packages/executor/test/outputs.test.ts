import type { ValueType } from "@steps/model";
import type { OutputSpec, Spec } from "@steps/model/definition";
import { describe, expect, test } from "vitest";
import { call, eventOf, exec, item, run, sequence, sh } from "./harness.ts";

const outputs = (types: Readonly<Record<string, ValueType>>, rest: Partial<OutputSpec> = {}): Spec => ({
  inputs: {},
  outputs: Object.fromEntries(
    Object.entries(types).map(([name, type]) => [name, { type, isSensitive: false, ...rest }]),
  ),
});

describe("output files", () => {
  test.each([
    ["a symbolic link", "rm $F; ln -s /etc/passwd $F", "symbolic link"],
    ["a fifo", "rm $F; mkfifo $F", "something else"],
    ["a directory", "rm $F; mkdir $F", "something else"],
    ["nothing", "rm $F", "removed"],
    ["more than fits", "truncate -s 65M $F", "larger than 64 MiB"],
    ["a line too long", "head -c 17000000 /dev/zero > $F", "line 1: the line is longer than 16 MiB"],
  ])("replaced by %s end the step", async (_what, script, message) => {
    const ran = await run(sh(script, { env: { F: "${{ output_file }}" } }));
    expect(ran.outcome).toMatchObject({ status: "failure", error: { code: "OUTPUT_INVALID" } });
    expect(ran.outcome.error?.message).toContain(message);
    expect(eventOf(ran, "step-finished", "")).toMatchObject({ exitCode: 0 });
  });

  test("exist only when something asks for them, and are named by the events", async () => {
    const without = await run(exec(["true"]));
    const path = expect.any(String);
    expect(eventOf(without, "process-starting", "").places).toEqual({ workDir: path, stepDir: path, jobTmp: path });
    const ran = await run(sh("ls -l ${{ output_file }}"));
    const { outputFile } = eventOf(ran, "process-starting", "").places;
    expect(ran.output).toMatch(/^-rw-------/);
    expect(ran.output).toContain(outputFile);
    expect(ran.leftInTmp).toEqual([]);
  });

  test("are not read when the process fails", async () => {
    const ran = await run(sequence([item(sh("echo bad > ${{ output_file }}; echo A=1 > ${{ export_file }}; exit 9"))]));
    expect(ran.outcome).toMatchObject({ exitCode: 9, error: { code: "EXIT_STATUS" } });
    expect(eventOf(ran, "step-finished", "0").exports).toEqual({});
  });

  test("that are wrong keep exports from being applied; wrong exports fail the step", async () => {
    const wrong = await run(sh("echo A=1 > ${{ export_file }}; echo x > ${{ output_file }}"));
    expect(wrong.outcome.error?.code).toBe("OUTPUT_INVALID");
    const exported = await run(sh("echo 1A=1 > ${{ export_file }}"));
    expect(exported.outcome.error).toEqual({
      code: "EXPORT_INVALID",
      message: 'exports: line 1: the line is neither a JSON object with "name" and "value" nor NAME=VALUE',
    });
  });
});

describe("outputs of a sequence", () => {
  const one = sh("echo n=1 > ${{ output_file }}", { spec: outputs({ n: "number" }) });

  test("are made of its children's, checked and filled in like those of a process", async () => {
    const make = (spec: Spec) =>
      run(sequence([call("one", "./one")], { spec, outputs: { sum: "${{ steps.one.outputs.n + 1 }}" } }), {
        steps: { "./one": one },
      });
    expect({ ...(await make(outputs({ sum: "number" }))).outputs }).toEqual({ sum: 2 });
    expect({ ...(await make(outputs({ sum: "number", more: "number" }, { default: 7 }))).outputs }).toEqual({
      sum: 2,
      more: 7,
    });
    expect((await make(outputs({ sum: "string" }))).outcome.error?.message).toBe(
      'outputs: output "sum": declared as "string", received "number"',
    );
    expect((await make(outputs({}))).outcome.error?.code).toBe("OUTPUT_INVALID");
  });

  test("of an anonymous item need no declaration", async () => {
    const inner = sequence([call("one", "./one")], { outputs: { n: "${{ steps.one.outputs.n }}" } });
    const ran = await run(
      sequence([item(inner, { name: "inner" })], {
        spec: outputs({ n: "number" }),
        outputs: { n: "${{ steps.inner.outputs.n }}" },
      }),
      { steps: { "./one": one } },
    );
    expect({ ...ran.outputs }).toEqual({ n: 1 });
  });

  test("are delegated through any number of levels, with their marks", async () => {
    const secret = sh("echo k=s3cret > ${{ output_file }}", { spec: outputs({ k: "string" }, { isSensitive: true }) });
    const delegating: Spec = { inputs: {}, outputs: "delegate" };
    const ran = await run(sequence([call("a", "./a")], { spec: delegating, delegate: "a" }), {
      steps: { "./a": sequence([call("b", "./b")], { spec: delegating, delegate: "b" }), "./b": secret },
    });
    expect(JSON.stringify(ran.outputs)).toBe('{"k":"[MASKED]"}');
    expect(eventOf(ran, "step-finished", "0").delegateOf).toBe("b");
    expect(eventOf(ran, "step-finished", "").delegateOf).toBe("a");
  });

  test("delegated to nobody fail the step", async () => {
    const ran = await run(sequence([], { spec: { inputs: {}, outputs: "delegate" }, delegate: "gone" }));
    expect(ran.outcome.error).toEqual({ code: "DELEGATE_INVALID", message: 'outputs: delegate: no step "gone"' });
  });

  test("of a process that delegates are one result in its output file", async () => {
    const spec: Spec = { inputs: {}, outputs: "delegate" };
    const ran = await run(sh(`echo '{"outputs":{"a":[1]}}' > \${{ output_file }}`, { spec }));
    expect({ ...ran.outputs }).toEqual({ a: [1] });
    expect((await run(exec(["true"], { spec }))).outcome.error?.code).toBe("DELEGATE_INVALID");
  });
});
