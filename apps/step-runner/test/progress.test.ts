import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasProgram, TerminalScreen } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { COMMAND, createWorld, type World } from "./harness.ts";

const STEPS = `
- {name: narrow, script: 'stty -F "\${{ vars.TTY }}" cols 40; sleep 0.5; printf "no end"'}
- name: checks
  parallel:
    - {name: lint, script: 'echo lint 1; touch l; until [ -f u ]; do sleep 0.05; done; echo lint 2'}
    - {name: unit, script: 'until [ -f l ]; do sleep 0.05; done; echo unit 1; sleep 0.5; touch u'}
- name: flaky
  retry: {max: 2}
  script: 'if [ -f tried ]; then echo up; else touch tried; echo down; exit 1; fi'
- {name: may-fail, continue_on_error: true, script: exit 4}
- {name: only-prod, if: '\${{ false }}', script: echo never}
- name: deploy
  script: |
    echo deploying
    ./deplyo
    echo never
`;

/** The bytes that a line of shell sends to a terminal of 80 columns; `$SR` is the command in it. */
function onTerminal(world: World, line: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = spawn("script", ["-qec", `stty cols 80 rows 30; ${line}`, "/dev/null"], {
    cwd: world.work,
    env: { ...world.env, SR: COMMAND, TERM: "xterm", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  return new Promise((fulfil) => child.on("close", () => fulfil(text)));
}

function worldWith(steps: string): World {
  const world = createWorld();
  writeFileSync(join(world.work, "steps.yml"), steps);
  return world;
}

/** A screen without what differs from run to run. */
function steady(text: string): string {
  return (
    text
      .replaceAll(/\d+ms|\d+\.\d+s|\d+m\d\ds/g, "TIME")
      // How much of a line fits depends on its times.
      .replaceAll(/TIME .*…$/gm, "TIME …")
      .replaceAll(/(trace show|replay) [0-9a-f]{12}/g, "$1 ID")
      .replaceAll(/\/\S*\/bash:/g, "bash:")
  );
}

describe.skipIf(!hasProgram("script"))("on a terminal", () => {
  test("a run leaves its output, the tree, a line that sums it up, and the place of its failure", async () => {
    const raw = await onTerminal(worldWith(STEPS), '$SR run steps.yml --job "TTY=$(tty)"', { NO_COLOR: "1" });
    const shown = steady(new TerminalScreen(80).write(raw).text);
    expect(shown).toMatchInlineSnapshot(`
      "no end
      lint 1
      unit 1
      lint 2
      down
      up
      deploying
      bash: line 2: ./deplyo: No such file or directory
      ✗ job  TIME  failure
      ├─ ✓ narrow  TIME
      ├─ ✓ checks  TIME
      │  ├─ ✓ lint  TIME
      │  └─ ✓ unit  TIME
      ├─ ✓ flaky  TIME
      │  ├─ ✗ attempt 1 of 3  TIME …
      │  └─ ✓ attempt 2 of 3  TIME
      ├─ ✗ may-fail  TIME …
      ├─ - only-prod  skipped  if: false is …
      └─ ✗ deploy  TIME  failure  exit 127
      4 passed, 1 failed, 1 allowed to fail, 1 skipped in TIME
      step-runner: step "deploy": exec: exit status 127
      steps.yml:15:5
        14 |     echo deploying
      > 15 |     ./deplyo
           |     ^^^^^^^^
        16 |     echo never
        line 2 of the script: ./deplyo
        exit code 127: a command was not found
        hint: step-runner trace show ID --logs deploy shows its output
        hint: step-runner replay ID runs it again"
    `);
    // The tree was there while it ran, with what ran, and narrower once the terminal was.
    const frames = raw.split("\u001B[?7h").map((frame) => frame.split("\u001B[?7l")[1] ?? "");
    expect(frames.some((frame) => frame.includes(" lint") && frame.includes(" unit"))).toBe(true);
    const narrow = frames.filter((frame) => frame.includes("narrow"));
    const widths = narrow.map((frame) => Math.max(...frame.split("\r\n").map((line) => line.length)));
    expect(Math.min(...widths)).toBeLessThan(50);
  });

  test("a file that standard output goes to has the bytes of the steps alone", async () => {
    const world = worldWith(
      "- {name: a, script: 'printf \"a\\\\tb\\\\033[31m\\\\000c\"; sleep 0.3'}\n- {name: b, script: 'echo d'}\n",
    );
    const raw = await onTerminal(world, "$SR run steps.yml >out");
    expect(readFileSync(join(world.work, "out"), "utf8")).toBe("a\tb\u001B[31m\u0000cd\n");
    expect(new TerminalScreen(80).write(raw).text).toContain("✓ b");
  });

  test("--progress, CI, TERM and NO_COLOR say how it is shown", async () => {
    const world = worldWith("- {name: a, script: 'echo out; sleep 0.3'}\n");
    const [tree, plain, inCi, dumb, quiet, both] = await Promise.all([
      onTerminal(world, "$SR run steps.yml", { NO_COLOR: "1" }),
      onTerminal(world, "$SR run steps.yml --progress plain", { NO_COLOR: "1" }),
      onTerminal(world, "$SR run steps.yml", { CI: "true", NO_COLOR: "1" }),
      onTerminal(world, "$SR run steps.yml", { TERM: "dumb" }),
      onTerminal(world, "$SR run steps.yml --progress quiet"),
      onTerminal(world, "$SR run steps.yml --progress tree", { CI: "true" }),
    ]);
    expect(tree).toContain("\u001B[?7l");
    expect(tree).not.toMatch(/\u001B\[[1-9]\d*m/);
    expect(steady(plain)).toBe("▶ a\r\nout\r\n✓ a  TIME\r\n✓ job  TIME: 1 passed in TIME\r\n");
    expect(steady(inCi)).toBe(steady(plain));
    expect(dumb).toBe("Running step name=a\r\nout\r\n");
    expect(quiet).toBe("out\r\n");
    expect(both).toContain("\u001B[?7l");
  });

  test("names and output of steps cannot drive the terminal where they are quoted", async () => {
    const file = '"a\\e]0;x\\a":\n  script: ["printf \'\\\\033]0;y\\\\007end\\\\n\'; exit 3"]\n';
    const world = createWorld();
    writeFileSync(join(world.work, ".gitlab-ci.yml"), file);
    const raw = await onTerminal(world, "$SR local --progress tree >/dev/null", { NO_COLOR: "1" });
    expect(raw).not.toContain("\u001B]");
    expect(raw).not.toContain("\u0007");
    expect(raw).toContain("| end");
  });

  test("a pipeline is a tree of its jobs, with the table at the end", async () => {
    const world = createWorld();
    writeFileSync(
      join(world.work, ".gitlab-ci.yml"),
      "a: {script: [sleep 0.4]}\nb: {script: [sleep 0.2, exit 3], allow_failure: true}\n",
    );
    const raw = await onTerminal(world, "$SR pipeline", { NO_COLOR: "1" });
    expect(raw).toMatch(/├─ . a\b/);
    expect(raw).toMatch(/└─ . b\b/);
    const shown = steady(new TerminalScreen(80).write(raw).text);
    expect(shown).toMatch(
      /a {2}test {2}passed +TIME\nb {2}test {2}failed, allowed .*\n1 passed, 1 allowed to fail in TIME$/,
    );
    expect(shown).not.toContain("├─");
  });
});

describe("without a terminal", () => {
  test("--progress plain has the lines of parallel steps behind their names", async () => {
    const world = worldWith(
      "- name: checks\n  parallel:\n    - {name: lint, script: echo one; printf two}\n    - {name: unit, script: echo three >&2}\n- {name: last, script: echo four}\n",
    );
    const { stdout, stderr } = await world.run(["run", "steps.yml", "--progress", "plain"]);
    expect(stdout).toBe("checks / lint | one\nchecks / lint | two\nfour\n");
    expect(stderr).toContain("checks / unit | three\n");
    expect(steady(stderr)).toMatch(/✓ checks {2}TIME\n▶ last\n✓ last {2}TIME\n✓ job {2}TIME: 3 passed in TIME\n$/);
  });

  test("--progress tree is plain, and --progress plain explains a failure with the end of its output", async () => {
    const world = worldWith("- name: a\n  script: |\n    echo said\n    nosuch --flag\n");
    const [plain, tree] = await Promise.all(
      ["plain", "tree"].map((progress) => world.run(["run", "steps.yml", "--progress", progress])),
    );
    expect(steady(tree?.stderr ?? "")).toBe(steady(plain?.stderr ?? ""));
    const { code, stdout, stderr } = plain ?? { code: 0, stdout: "", stderr: "" };
    expect({ code, stdout }).toEqual({ code: 127, stdout: "said\n" });
    expect(steady(stderr)).toMatchInlineSnapshot(`
      "▶ a
      bash: line 2: nosuch: command not found
      ✗ a  TIME  failure  exit 127
      ✗ job  TIME  failure: 0 passed, 1 failed in TIME
      step-runner: step "a": exec: exit status 127
      steps.yml:4:5
        3 |     echo said
      > 4 |     nosuch --flag
          |     ^^^^^^^^^^^^^
        line 2 of the script: nosuch --flag
        exit code 127: a command was not found
        the end of its output:
        | said
        | bash: line 2: nosuch: command not found
        hint: step-runner trace show ID --logs a shows its output
        hint: step-runner replay ID runs it again
      "
    `);
  });
});
