import { formatHelp, groupFlags } from "@steps/console";
import type { Terminal } from "@steps/console/terminal";
import { describe, expect, test } from "vitest";
import { program } from "../src/program.ts";
import { createWorld } from "./harness.ts";

const commands = await Promise.all(Object.values(program.commands).map((load) => load()));
const plain = (text: string): string => text;
const terminal: Terminal = { isTerminal: true, hasColor: false, width: 50, bold: plain, red: plain, dim: plain };

/** Rows that are wider than the terminal though they could be broken: no command line, no flag with what it takes. */
function tooWide(text: string): string[] {
  return text
    .split("\n")
    .filter((row) => row.length > terminal.width && row.trim().includes(" "))
    .filter((row) => !/^ {2}(?:--|-[a-z], |.*(?:step-runner|gitlab-runner-helper) )/.test(row) || /^ {2}#/.test(row));
}

describe("--help", () => {
  test.each(commands.map((command) => [command.name, command] as const))(
    "of %s fits into the terminal and shows at most eight flags before the first heading",
    (_, command) => {
      const [first] = groupFlags(command.flags);
      expect(first?.[1].length ?? 0).toBeLessThanOrEqual(8);
      expect(tooWide(formatHelp(program.name, command, terminal))).toEqual([]);
    },
  );

  test("of ci begins with what most jobs need and goes on by headings", async () => {
    const { stdout } = await createWorld().run(["ci", "--help"]);
    expect(stdout.split("\n").filter((line) => /^[A-Z][^.]*:$/.test(line))).toEqual([
      "Flags:",
      "Environment and secrets of the steps:",
      "How steps are read:",
      "The run and its records:",
      "Components:",
      "GitHub actions:",
      "Serving on a port:",
      "Examples:",
    ]);
    const flags = Array.from(stdout.matchAll(/^ {2}(?:-[a-z], )?--([a-z-]+)/gm), ([, name]) => name);
    expect(flags.slice(0, 4)).toEqual(["output-file", "secret", "timeout", "quiet"]);
    expect(flags.toSorted()).toEqual(Object.keys(commands[0]?.flags ?? {}).toSorted());
  });

  test("of the program has a heading for every command that it shows", () => {
    const shown = commands.filter(({ isHidden }) => isHidden !== true).map(({ name }) => name);
    expect(
      Object.values(program.headings ?? {})
        .flat()
        .toSorted(),
    ).toEqual(shown.toSorted());
  });

  test("of the program fits into the terminal", async () => {
    const { stdout, code } = await createWorld().run(["--help"], { env: { COLUMNS: "50" } });
    expect({ code, tooWide: tooWide(stdout) }).toEqual({ code: 0, tooWide: [] });
    expect(stdout).toContain("\n  validate ");
  });
});
