import { describe, expect, test } from "vitest";
import { COMMAND, createWorld } from "./harness.ts";

describe("set-output and set-export", () => {
  test("give outputs and variables from a script without quoting", async () => {
    const world = createWorld();
    const steps = `
- name: a
  script: |
    set() { "${COMMAND}" "$@"; }
    set set-output text 'a "quoted" text
    over lines'
    echo 7 | set set-output n -
    set set-output list '["x","y"]' --json
    set set-export V 'y z'
- name: b
  env: {T: "\${{ steps.a.outputs.text }}"}
  script: echo "$T" '\${{ steps.a.outputs.n }}' '\${{ steps.a.outputs.list[1] }}' "$V"
`;
    expect(await world.ci(steps, ["--quiet"])).toMatchObject({
      code: 0,
      stderr: "",
      stdout: 'a "quoted" text\nover lines 7 y y z\n',
    });
  });

  test("do their work whatever a job sets for an engine of its own", async () => {
    const world = createWorld();
    const steps = `
- name: a
  env: {BUN_BE_BUN: "1", BUN_OPTIONS: --no-such-flag}
  script: step-runner set-output text "got $BUN_OPTIONS"
- {name: b, script: "echo \${{ steps.a.outputs.text }}"}
`;
    expect(await world.ci(steps, ["--quiet"])).toMatchObject({ code: 0, stderr: "", stdout: "got --no-such-flag\n" });
  });

  test("say what is wrong", async () => {
    const world = createWorld();
    const outside = await world.run(["set-output", "a", "b"]);
    expect(outside).toMatchObject({ code: 2, stdout: "" });
    expect(outside.stderr).toContain("STEP_OUTPUT_FILE is not set");
    const name = await world.run(["set-output", "a-b", "b", "--file", "x"]);
    expect(name).toMatchObject({ code: 2 });
    expect(name.stderr).toContain('Not a name: "a-b"');
    expect(await world.run(["set-output", "a", "{", "--json", "--file", "x"])).toMatchObject({ code: 2 });
    expect((await world.run(["set-export", "a", "b", "--file", "/nowhere/x"])).code).not.toBe(0);
  });
});
