import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as flag from "./flag-kinds.ts";
import { splitCommand } from "./parse-command-line.ts";

// A real process: what is written where, and what it exits with, is the whole of a program's behaviour.
const PROGRAM = `
import { flag, runProgram, UsageError } from ${JSON.stringify(join(import.meta.dirname, "index.ts"))};
import { print } from ${JSON.stringify(join(import.meta.dirname, "entries/terminal.ts"))};
import { StepsError } from "@steps/model";
const base = { summary: "A command", usage: "[flags]", flags: {}, positionals: { min: 0, max: 9 }, examples: [] };
const flags = { socket: flag.text({ summary: "A path" }), fast: flag.boolean({ summary: "Fast" }) };
const commands = {
  serve: { ...base, name: "serve", flags, takesCommand: true, run: async (options, positionals) => (await print(JSON.stringify([options.socket, positionals]) + "\\n"), 0) },
  "group one": { ...base, name: "group one", run: async () => 0 },
  hidden: { ...base, name: "hidden", isHidden: true, run: async () => 0 },
  broken: { ...base, name: "broken", run: async () => { throw new StepsError("VERSION_UNSUPPORTED", "It is special", { hint: "Do less." }); } },
  file: { ...base, name: "file", run: async () => { throw Object.assign(new Error("no"), { code: "EACCES", path: "/x" }); } },
  own: { ...base, name: "own", run: async () => { throw Object.assign(new Error("no"), { code: "EACCES", path: "/home/demo/y" }); } },
};
const program = {
  name: "demo", summary: "Shows it", permissionHint: "Ask somebody.", ownFolder: "demo",
  commands: Object.fromEntries(Object.entries(commands).map(([name, command]) => [name, async () => command])),
};
process.exitCode = await runProgram(program, process.argv.slice(1));
`;

function demo(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const flags = ["--conditions=steps-source", "--input-type=module", "-e", PROGRAM, "--"];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, ...args], {
    encoding: "utf8",
    cwd: import.meta.dirname,
    env: { ...process.env, NO_COLOR: "1" },
  });
  return { status, stdout, stderr };
}

describe("runProgram", () => {
  test("what follows the first positional belongs to another program", () => {
    const { stdout, status } = demo("serve", "--socket", "/s", "sh", "-c", "echo --help", "--help");
    expect(JSON.parse(stdout)).toEqual(["/s", ["sh", "-c", "echo --help", "--help"]]);
    expect(status).toBe(0);
  });

  test("help before the other program's words is ours", () => {
    expect(demo("serve", "--help", "sh").stdout).toContain("Usage: demo serve [flags]");
  });

  test("a hidden command is not in the overview, and can be called", () => {
    const { stdout } = demo("--help");
    expect(stdout).toContain("serve");
    expect(stdout).not.toContain("hidden");
    expect(demo("hidden").status).toBe(0);
  });

  test("gives an error the exit code of the table", () => {
    expect(demo("broken")).toEqual({ status: 16, stdout: "", stderr: "demo: It is special\n  hint: Do less.\n" });
  });

  test("tells where its own files are when it may not use one of them, and not of any other file", () => {
    const own = 'demo: Cannot use "/home/demo/y": permission denied\n  hint: Ask somebody.\n';
    expect(demo("own")).toEqual({ status: 1, stdout: "", stderr: own });
    expect(demo("file")).toEqual({ status: 1, stdout: "", stderr: 'demo: Cannot use "/x": permission denied\n' });
  });

  test("shows the commands of a group that is named alone, and is not content with that", () => {
    const { status, stdout, stderr } = demo("group");
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain("group one");
    expect(stderr).not.toContain("serve");
  });

  test.each([["nope"], ["group two"], ["toString"], ["serve --wrong"]])("%s is refused with 2", (text) => {
    const { status, stderr } = demo(...text.split(" "));
    expect(stderr).toMatch(/^demo: /);
    expect(status).toBe(2);
  });
});

describe("splitCommand", () => {
  const flags = { socket: flag.text({ summary: "" }), fast: flag.boolean({ summary: "" }) };
  test.each([
    [
      ["sh", "-c", "x"],
      ["--", "sh", "-c", "x"],
    ],
    [
      ["--socket", "/s", "sh"],
      ["--socket", "/s", "--", "sh"],
    ],
    [
      ["--socket=/s", "--fast", "sh", "--fast"],
      ["--socket=/s", "--fast", "--", "sh", "--fast"],
    ],
    [
      ["--fast", "--", "-x"],
      ["--fast", "--", "-x"],
    ],
    [["--fast"], ["--fast"]],
    [["--socket"], ["--socket"]],
  ])("%j", (args, expected) => {
    expect(splitCommand({ flags }, args)).toEqual(expected);
  });
});
