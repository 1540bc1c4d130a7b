import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasProgram, tempDir } from "@steps/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { COMMAND } from "./harness.ts";

/** A folder with the scripts of completion, and a project to complete names of files in. */
const dir = tempDir("completion-");
const work = join(dir, "work");

beforeAll(() => {
  mkdirSync(join(work, "folder"), { recursive: true });
  writeFileSync(join(work, "file.yml"), "");
  for (const shell of ["bash", "zsh", "fish"])
    writeFileSync(join(dir, shell), spawnSync(COMMAND, ["completion", shell], { encoding: "utf8" }).stdout);
  writeFileSync(join(dir, ".zshrc"), ZSHRC);
});

// Completion prints what it would add, and the shell ends: nobody has to wait for a menu.
const ZSHRC = `
PROMPT=
bindkey '^I' complete-word
autoload -Uz compinit
compinit -u -D
source "$ZDOTDIR/zsh"
compadd() {
  if [[ " \${@[1,(i)(-|--)]}" == *" -"(O|A|D)* ]]; then builtin compadd "$@"; return $?; fi
  local -a hits
  builtin compadd -A hits "$@"
  ((\${#hits})) && print -rl -- "hit:"\${^hits}
  builtin compadd "$@"
}
comppostfuncs=(exit)
cd "$ZDOTDIR/work"
`;

/** Gives the command line to the completion of bash as its readline does, which takes the sign "=" for a word. */
function inBash(line: string): string[] {
  const words = line.split(/ |(=)/).filter((word) => word !== undefined);
  const quoted = words.map((word) => `'${word}'`).join(" ");
  const script = `source ../bash; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _step_runner; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return linesOf(spawnSync("bash", ["-c", script], { cwd: work, encoding: "utf8" }).stdout);
}

/** Types the command line into an interactive zsh, and a tab. */
function inZsh(line: string): string[] {
  const script = `zmodload zsh/zpty; zpty z zsh -i; zpty -w -n z "$1"$'\\t'; while zpty -r z row; do print -r -- "$row"; done`;
  const { stdout } = spawnSync("zsh", ["-f", "-c", script, "zsh", line], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: dir, ZDOTDIR: dir, TERM: "xterm" },
  });
  return Array.from(stdout.matchAll(/hit:([^\r\n]*)/g), ([, hit = ""]) => hit).filter(isFirst);
}

function inFish(line: string): string[] {
  const { stdout } = spawnSync("fish", ["-c", `source ../fish; complete -C "${line}"`], {
    cwd: work,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: dir },
  });
  return linesOf(stdout).map((row) => row.split("\t")[0] as string);
}

// The completer of folders asks twice for the same names.
function isFirst(hit: string, at: number, hits: readonly string[]): boolean {
  return hits.indexOf(hit) === at;
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((row) => row !== "");
}

const shells = [
  ["bash", inBash],
  ["zsh", inZsh],
  ["fish", inFish],
] as const;

describe.each(shells)("completion in %s", (shell, complete) => {
  const here = test.skipIf(!hasProgram(shell));
  here.each([
    ["step-runner va", ["validate"]],
    ["step-runner tr", ["trace"]],
    ["step-runner trace re", ["recover"]],
    ["step-runner help va", ["validate"]],
    ["step-runner run --git ", ["auto", "isomorphic", "system"]],
    ["step-runner cache gc --max", ["--max-age", "--max-size"]],
    ["step-runner completion ", ["bash", "fish", "zsh"]],
    ["step-runner validate fil", ["file.yml"]],
    ["step-runner run --timeout ", []],
  ] as const)("of %j", (line, expected) => {
    expect(complete(line).toSorted()).toEqual(expected);
  });

  here("offers folders alone for a flag that takes a folder", () => {
    expect(complete("step-runner cache gc --state-dir f").map((name) => name.replace("/", ""))).toEqual(["folder"]);
  });

  here("offers the commands that are shown, and no others", () => {
    const offered = complete("step-runner ");
    expect(offered).toEqual(expect.arrayContaining(["run", "pipeline", "trace", "cache", "help"]));
    expect(offered).not.toContain("reap");
  });
});

test.skipIf(!hasProgram("bash"))("completion in bash finishes a value behind the sign =", () => {
  expect(inBash("step-runner run --git=sys")).toEqual(["system"]);
  expect(inBash("step-runner run --git=")).toEqual(["auto", "system", "isomorphic"]);
});

test.each(["pod", "runner-bridge"])("completion of %s has its commands", (program) => {
  const command = join(COMMAND, "..", program);
  const { stdout } = spawnSync(command, ["completion", "bash"], { encoding: "utf8" });
  expect(stdout).toContain(`_${program.replace("-", "_")} ${program}\n`);
  expect(stdout).toMatch(/compgen -W '(?:[a-z-]+ )*run /);
});
