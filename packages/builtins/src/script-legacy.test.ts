import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import type { Value } from "@steps/model";
import { describe, expect, test } from "vitest";
import { legacyScript } from "./script-legacy.ts";

function run(
  inputs: Readonly<Record<string, Value>>,
  dir?: string,
): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync("sh", ["-c", legacyScript(inputs, dir)], { encoding: "utf8" });
  return { status, stdout, stderr };
}

describe("the script of script_legacy", () => {
  test("prints each line before it is run, in one shell, and stops at the first that fails", () => {
    const { status, stdout } = run({ script: ["A='it is'", 'echo "$A"', "", "echo 1\necho 2", "(exit 7)", "echo no"] });
    expect(status).toBe(7);
    const shown = (line: string): string => `\u001b[32;1m$ ${line}\u001b[0;m\n`;
    expect(stdout).toBe(
      `${shown("A='it is'")}${shown('echo "$A"')}it is\n\n${shown("echo 1 # collapsed multi-line command")}1\n2\n${shown("(exit 7)")}`,
    );
  });

  test("checks the status of each line where that is asked for", () => {
    const script = ["set +e", "(exit 5)", "echo no"];
    expect(run({ script }).status).toBe(0);
    expect(run({ script, check_for_errors: true }).status).toBe(5);
  });

  test("prints commands as they are run where that is asked for", () => {
    expect(run({ script: ["A=1", "echo $A"], debug_trace: true }).stderr).toContain("+ echo 1\n");
  });

  test("makes sections of lines that have several", () => {
    const { stdout } = run({ script: ["echo 1\necho 2"], trace_sections: true });
    expect(stdout).toMatch(
      // oxlint-disable-next-line no-control-regex
      /^\u001b\[0Ksection_start:\d+:script_step_0\[hide_duration=true,collapsed=true\]\r\u001b\[0K.*\n1\n2\n\u001b\[0Ksection_end:\d+:script_step_0\r/,
    );
  });

  test("reads what an earlier script wrote to $GITLAB_ENV", () => {
    const dir = tempDir();
    writeFileSync(join(dir, "gitlab_runner_env"), "FIRST=one two\n");
    const { stdout } = run({ script: ['echo "$FIRST"', 'echo B=1 >>"$GITLAB_ENV"'] }, dir);
    expect(stdout).toContain("one two\n");
    expect(readFileSync(join(dir, "gitlab_runner_env"), "utf8")).toBe("FIRST=one two\nB=1\n");
  });

  test("is refused without a line", () => {
    expect(() => legacyScript({ script: [] }, undefined)).toThrow("it has no lines");
  });
});
