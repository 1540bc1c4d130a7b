import { spawnSync, type SpawnSyncOptions } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { hasProgram, tempDir } from "@steps/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { COMMAND } from "./harness.ts";

/** A folder with the scripts of completion, and a project to complete names of files in. */
const dir = tempDir("completion-");
const work = join(dir, "work");
/** The runs that are kept in it are completed. */
const stateDir = join(dir, "state");
/** The environment of all shells. */
const env = { PATH: `${dirname(COMMAND)}:${process.env["PATH"]}`, HOME: dir, STEP_RUNNER_STATE_DIR: stateDir };

beforeAll(() => {
  mkdirSync(join(work, "folder"), { recursive: true });
  writeFileSync(join(work, "file.yml"), "");
  for (const shell of ["bash", "zsh", "fish"])
    writeFileSync(join(dir, shell), spawnSync(COMMAND, ["completion", shell], { encoding: "utf8" }).stdout);
  writeFileSync(join(dir, ".zshrc"), ZSHRC);
  // They have different names, because zsh shows runs of the same description beside each other, in an order of its own.
  for (const name of ["first.yml", "second.yml"]) {
    writeFileSync(join(dir, name), "- {name: nothing, exec: {command: ['true']}}\n");
    spawnSync(COMMAND, ["run", `../${name}`], { env, cwd: work });
  }
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
function inBash(line: string, more: Readonly<Record<string, string>> = {}): string[] {
  const words = line.split(/ |(=)/).filter((word) => word !== undefined);
  const quoted = words.map((word) => `'${word}'`).join(" ");
  const script = `source ../bash; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _step_runner; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return linesOf(quietly("bash", ["-c", script], { cwd: work, env: { ...env, ...more } }));
}

/** Types the command line into an interactive zsh, and a tab. */
function inZsh(line: string, more: Readonly<Record<string, string>> = {}): string[] {
  const script = `zmodload zsh/zpty; zpty z zsh -i; zpty -w -n z "$1"$'\\t'; while zpty -r z row; do print -r -- "$row"; done`;
  const stdout = quietly("zsh", ["-f", "-c", script, "zsh", line], {
    env: { ...env, ZDOTDIR: dir, TERM: "xterm", ...more },
  });
  return Array.from(stdout.matchAll(/hit:([^\r\n]*)/g), ([, hit = ""]) => hit).filter(isFirst);
}

function inFish(line: string, more: Readonly<Record<string, string>> = {}): string[] {
  const stdout = quietly("fish", ["-c", `source ../fish; complete -C "${line}"`], {
    cwd: work,
    env: { ...env, ...more },
  });
  return linesOf(stdout).map((row) => row.split("\t")[0] as string);
}

/** The output of a shell, which must have nothing to complain about. */
function quietly(shell: string, args: readonly string[], options: SpawnSyncOptions): string {
  const { stdout, stderr } = spawnSync(shell, args, { ...options, encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout;
}

/** The ids of the runs that are kept, as they are typed, the newest first. */
function keptIds(): string[] {
  const { stdout } = spawnSync(COMMAND, ["trace", "ls", "--json"], { encoding: "utf8", env });
  return (JSON.parse(stdout) as { id: string }[]).map(({ id }) => id.slice(0, 12));
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

  here("offers the runs that are kept, the newest first, and files, where a trace is named", () => {
    const ids = keptIds();
    expect(ids).toHaveLength(2);
    for (const line of ["trace show ", "replay ", "trace diff file.yml "]) {
      const offered = complete(`step-runner ${line}`).map((row) => (row.split(/ {2}/)[0] as string).replace("/", ""));
      expect(offered.filter((word) => ids.includes(word))).toEqual(ids);
      expect(offered).toEqual(expect.arrayContaining(["file.yml", "folder"]));
    }
  });

  here("finishes the id of a run, and the name of a file", () => {
    const [id = ""] = keptIds();
    expect(complete(`step-runner trace show ${id.slice(0, 11)}`)).toEqual([id]);
    expect(complete("step-runner trace show fil")).toEqual(["file.yml"]);
  });

  here("offers files alone, without a word, where no run is kept, none can be read, or there is no command", () => {
    const without: readonly Readonly<Record<string, string>>[] = [
      { STEP_RUNNER_STATE_DIR: join(dir, "nothing") },
      { STEP_RUNNER_STATE_DIR: join(work, "file.yml") },
      { PATH: "/usr/bin:/bin" },
    ];
    for (const more of without)
      expect(complete("step-runner replay ", more).map((name) => name.replace("/", ""))).toEqual([
        "file.yml",
        "folder",
      ]);
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

test.skipIf(!hasProgram("bash"))(
  "completion in bash says what each run was where the words are listed, and nowhere else",
  () => {
    const ids = keptIds();
    expect(inBash("step-runner replay ")[0]).toMatch(/^[0-9a-f]{12} {2}\d{4}-\d\d-\d\d [\d:]{8} {2}success {2}/);
    expect(inBash("step-runner replay ", { COLUMNS: "40" })[0]).toHaveLength(38);
    expect(inBash("step-runner replay ", { COMP_TYPE: "37" })).toEqual([...ids, "file.yml", "folder"]);
  },
);

test.each(["pod", "runner-bridge"])("completion of %s has its commands", (program) => {
  const command = join(COMMAND, "..", program);
  const { stdout } = spawnSync(command, ["completion", "bash"], { encoding: "utf8" });
  expect(stdout).toContain(`_${program.replace("-", "_")} ${program}\n`);
  expect(stdout).toMatch(/compgen -W '(?:[a-z-]+ )*run /);
});
