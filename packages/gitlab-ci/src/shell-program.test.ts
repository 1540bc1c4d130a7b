import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createShellProgram, quoteForShell, type ShellProgramOptions } from "./shell-program.ts";

const shells = [
  ["bash", ["bash", "-c"]],
  ["bash --posix", ["bash", "--posix", "-c"]],
  ["dash", ["dash", "-c"]],
] as const;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "gitlab-ci-"));
  writeFileSync(join(directory, "step-runner"), '#!/bin/sh\necho "step-runner got $# arguments: $*"\n', {
    mode: 0o755,
  });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function run(
  shell: readonly string[],
  options: Partial<ShellProgramOptions>,
): { code: number | null; lines: string[]; stderr: string } {
  const program = createShellProgram({ commands: [], afterCommands: [], ...options });
  const [command = "", ...args] = shell;
  const { status, stdout, stderr } = spawnSync(command, [...args, program], {
    cwd: directory,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: `${directory}:${process.env["PATH"] ?? ""}`, LC_ALL: "C.UTF-8" },
  });
  return { code: status, lines: stdout.split("\n").slice(0, -1), stderr };
}

describe.each(shells)("in %s", (_, shell) => {
  test("shows each command and runs them in one shell", () => {
    const commands = ["cd /", "X='a b'", 'greet() { echo "hi $X"; }', "pwd; greet"];
    const { code, lines } = run(shell, { commands });
    expect({ code, lines }).toEqual({
      code: 0,
      lines: ["$ cd /", "$ X='a b'", '$ greet() { echo "hi $X"; }', "$ pwd; greet", "/", "hi a b"],
    });
  });

  test("shows the first line of a longer command, and an empty line for none", () => {
    const { lines } = run(shell, { commands: ["\n  if true\nthen echo yes\nfi\n", "  ", "cat <<EOF\nheld\nEOF"] });
    expect(lines).toEqual([
      "$ if true # collapsed multi-line command",
      "yes",
      "",
      "$ cat <<EOF # collapsed multi-line command",
      "held",
    ]);
  });

  test("shows a command that is full of quotes, escapes and formats as it is written", () => {
    const command = String.raw`: '%s\n' "\033[0m" $'\x41' ` + "`true`" + String.raw` $(true) \\ %d`;
    expect(run(shell, { commands: [command] }).lines).toEqual([`$ ${command}`]);
  });

  test("ends with the code of the first failing command", () => {
    const { code, lines } = run(shell, { commands: ["echo one", "(exit 7)", "echo two"] });
    expect({ code, lines }).toEqual({ code: 7, lines: ["$ echo one", "one", "$ (exit 7)"] });
  });

  test("gives each command a clean $?", () => {
    expect(run(shell, { commands: ["false || true", "echo $?"] }).lines.at(-1)).toBe("0");
  });

  test("fails with the last command, also when errexit excuses it", () => {
    expect(run(shell, { commands: ["false && true"] }).code).toBe(1);
    expect(run(shell, { commands: ["false && true"], afterCommands: ["true"] }).code).toBe(1);
  });

  test("runs after_script in a shell of its own, with the status of the job", () => {
    const { code, lines } = run(shell, {
      commands: ["cd /", "X=1; export Y=2", "trap 'echo bye' EXIT", "exit 3"],
      afterCommands: ['echo "${X-none} ${Y-none} ${__steps_status-none} $CI_JOB_STATUS"', "pwd"],
    });
    expect({ code, lines }).toEqual({
      code: 3,
      lines: [
        "$ cd /",
        "$ X=1; export Y=2",
        "$ trap 'echo bye' EXIT",
        "$ exit 3",
        "bye",
        '$ echo "${X-none} ${Y-none} ${__steps_status-none} $CI_JOB_STATUS"',
        "none none none failed",
        "$ pwd",
        directory,
      ],
    });
  });

  test("runs after_script also behind a failing command and a syntax error", () => {
    const afterCommands = ["echo $CI_JOB_STATUS"];
    const failed = run(shell, { commands: ["false", "echo unreachable"], afterCommands });
    expect({ code: failed.code, lines: failed.lines }).toEqual({
      code: 1,
      lines: ["$ false", "$ echo $CI_JOB_STATUS", "failed"],
    });
    const broken = run(shell, { commands: ["echo 'open"], afterCommands });
    expect(broken.code).not.toBe(0);
    expect(broken.lines.at(-1)).toBe("failed");
  });

  test("keeps a failure of after_script from the outcome, and says so", () => {
    const { code, lines, stderr } = run(shell, { commands: ["true"], afterCommands: ["exit 9", "echo unreachable"] });
    expect({ code, lines }).toEqual({ code: 0, lines: ["$ true", "$ exit 9"] });
    expect(stderr).toBe("WARNING: after_script failed, but job will continue unaffected: exit code 9\n");
  });

  test("stops after_script at its first failing command", () => {
    expect(run(shell, { commands: ["true"], afterCommands: ["false", "echo unreachable"] }).lines).not.toContain(
      "unreachable",
    );
  });

  test("lets after_script decide when it is told to, unless the job failed before", () => {
    const options = { afterCommands: ["exit 9"], failsWithAfterScript: true };
    expect(run(shell, { ...options, commands: ["true"] }).code).toBe(9);
    expect(run(shell, { ...options, commands: ["exit 4"] }).code).toBe(4);
  });

  test("finds /step-runner where there is no such file", () => {
    const commands = ["/step-runner ci", 'if true; then /step-runner "a b" c | cat; fi'];
    const { code, lines } = run(shell, { commands, afterCommands: ["/step-runner after"], needsStepRunner: true });
    expect(code).toBe(0);
    expect(lines.filter((line) => line.startsWith("step-runner"))).toEqual([
      "step-runner got 1 arguments: ci",
      "step-runner got 2 arguments: a b c",
      "step-runner got 1 arguments: after",
    ]);
  });
});

describe("in bash", () => {
  test("fails with the first failing part of a pipe", () => {
    expect(run(["bash", "-c"], { commands: ["false | true", "echo unreachable"] }).lines).toEqual(["$ false | true"]);
    expect(run(["bash", "-c"], { commands: ["(exit 5) | true"], afterCommands: ["true"] }).code).toBe(5);
  });

  test("works under options that a caller may have set", () => {
    const shell = ["bash", "-euo", "pipefail", "-c"];
    const { code, lines } = run(shell, { commands: ["exit 2"], afterCommands: ["echo after"], needsStepRunner: true });
    expect({ code, lines }).toEqual({ code: 2, lines: ["$ exit 2", "$ echo after", "after"] });
  });
});

describe("on a terminal", () => {
  test("shows commands in green", () => {
    const program = createShellProgram({ commands: ["echo hi"], afterCommands: [] });
    // The test stands in for the terminal by making the question's answer yes.
    const { stdout } = spawnSync("bash", ["-c", program.replace("[ -t 1 ]", "true")], { encoding: "utf8" });
    expect(stdout).toBe("\u001b[32;1m$ echo hi\u001b[0;m\nhi\n");
  });
});

describe("quoteForShell", () => {
  test.each(["", "'", "''", "a'b", "\n", "\\", '$x `y` "z"', "!"])("makes %j one word", (text) => {
    for (const shell of ["bash", "dash"]) {
      expect(spawnSync(shell, ["-c", `printf %s ${quoteForShell(text)}`], { encoding: "utf8" }).stdout).toBe(text);
    }
  });
});
