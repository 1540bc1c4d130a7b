import type { Command, Flag } from "./command.ts";
import type { Terminal } from "./terminal.ts";

/** The help of one command: usage, flags with their environment variables, examples. */
export function formatHelp(program: string, command: Command, terminal: Terminal): string {
  const { bold } = terminal;
  const rows = [`${command.summary}.`, "", `${bold("Usage:")} ${program} ${command.name} ${command.usage}`];
  for (const paragraph of command.description ?? []) rows.push("", wrap(paragraph, terminal.width, ""));
  const flags = Object.entries(command.flags);
  if (flags.length > 0)
    rows.push("", bold("Flags:"), ...flags.flatMap(([name, flag]) => describeFlag(name, flag, terminal)));
  if (command.examples.length > 0) {
    rows.push("", bold("Examples:"));
    for (const [example, does] of command.examples) rows.push(`  # ${does}`, `  ${example}`);
  }
  return `${rows.join("\n")}\n`;
}

/** The list of commands. */
export function formatOverview(
  program: { readonly name: string; readonly summary: string },
  commands: readonly Command[],
  terminal: Terminal,
): string {
  const { bold } = terminal;
  const width = Math.max(...commands.map((command) => command.name.length));
  const rows = commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`);
  return [
    `${program.summary}.`,
    "",
    `${bold("Usage:")} ${program.name} COMMAND [arguments]`,
    "",
    bold("Commands:"),
    ...rows,
    "",
    `${program.name} COMMAND --help shows a command's flags and examples, ${program.name} --version the version.`,
    "",
  ].join("\n");
}

function describeFlag(name: string, flag: Flag, terminal: Terminal): string[] {
  const value = flag.type === "boolean" ? "" : ` ${flag.placeholder ?? placeholderOf(flag)}`;
  const facts = [
    ...(flag.choices === undefined ? [] : [`one of ${flag.choices.join(", ")}`]),
    ...(flag.default === undefined || flag.default === false ? [] : [`default ${String(flag.default)}`]),
    ...(flag.env === undefined ? [] : [`environment ${flag.env}`]),
  ];
  const text = `${flag.summary}${facts.length === 0 ? "" : ` (${facts.join("; ")})`}`;
  return [`  --${name}${value}`, wrap(text, terminal.width, "      ")];
}

function placeholderOf(flag: Flag): string {
  if (flag.type === "pairs") return "NAME=VALUE,…";
  if (flag.type === "duration") return "DURATION";
  return flag.type === "number" ? "N" : "VALUE";
}

function wrap(text: string, width: number, indent: string): string {
  const rows: string[] = [];
  let row = indent;
  for (const word of text.split(" ")) {
    if (row.length > indent.length && row.length + word.length + 1 > width) {
      rows.push(row);
      row = indent;
    }
    row += row.length > indent.length ? ` ${word}` : word;
  }
  return [...rows, row].join("\n");
}
