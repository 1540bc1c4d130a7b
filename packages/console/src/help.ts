import type { Command } from "./command.ts";
import type { Flag, Flags } from "./flag.ts";
import type { Terminal } from "./terminal.ts";

/** The help of one command: usage, flags by their groups with their environment variables, examples. */
export function formatHelp(program: string, command: Command, terminal: Terminal): string {
  const { bold, width } = terminal;
  const rows = [
    wrap(`${command.summary}.`, width),
    "",
    hang(bold("Usage:"), "Usage:", usageOf(program, command), width),
  ];
  for (const paragraph of command.description ?? []) rows.push("", wrap(paragraph, width));
  for (const [heading, flags] of groupFlags(command.flags))
    rows.push("", bold(`${heading}:`), ...flags.flatMap(([name, flag]) => describeFlag(name, flag, terminal)));
  if (command.examples.length > 0) {
    rows.push("", bold("Examples:"));
    for (const [example, does] of command.examples) rows.push(wrap(`# ${does}`, width, "  "), `  ${example}`);
  }
  return `${rows.join("\n")}\n`;
}

/** The list of commands, under the headings of the program; those that none has stand last. */
export function formatOverview(
  program: {
    readonly name: string;
    readonly summary: string;
    readonly headings?: Readonly<Record<string, readonly string[]>>;
  },
  commands: readonly Command[],
  terminal: Terminal,
): string {
  const { bold, width } = terminal;
  const column = Math.max(...commands.map((command) => command.name.length));
  const rowOf = ({ name, summary }: Command): string =>
    hang(`  ${name.padEnd(column)} `, `  ${name.padEnd(column)} `, summary, width);
  const headings = Object.entries(program.headings ?? {});
  const groups = headings.map(([heading, names]) => {
    const members = names.flatMap((name) => commands.find((command) => command.name === name) ?? []);
    return { heading, members };
  });
  const rest = commands.filter(({ name }) => !headings.some(([, names]) => names.includes(name)));
  const shown = [...groups, { heading: headings.length === 0 ? "Commands" : "Others", members: rest }];
  return [
    wrap(`${program.summary}.`, width),
    "",
    `${bold("Usage:")} ${program.name} COMMAND [arguments]`,
    ...shown
      .filter(({ members }) => members.length > 0)
      .flatMap(({ heading, members }) => ["", bold(`${heading}:`), ...members.map(rowOf)]),
    "",
    wrap(
      `${program.name} COMMAND --help shows a command's flags and examples, ${program.name} --version the version.`,
      width,
    ),
    "",
  ].join("\n");
}

/** The flags by their headings, as `--help` shows them: those that matter most first, then the groups as they come. */
export function groupFlags(flags: Flags): readonly (readonly [heading: string, flags: [name: string, flag: Flag][]])[] {
  const groups = new Map<string, [string, Flag][]>();
  const entries = Object.entries(flags);
  const ordered = [
    ...entries.filter(([, { group }]) => group === undefined),
    ...entries.filter(([, { group }]) => group !== undefined),
  ];
  for (const [name, flag] of ordered) {
    const heading = flag.group ?? "Flags";
    const group = groups.get(heading) ?? [];
    group.push([name, flag]);
    groups.set(heading, group);
  }
  return [...groups];
}

function usageOf(program: string, command: Command): string {
  return `${program} ${command.name} ${command.usage}`;
}

function describeFlag(name: string, flag: Flag, terminal: Terminal): string[] {
  const facts = factsOf(flag);
  const text = `${flag.summary}${facts.length === 0 ? "" : ` (${facts.join("; ")})`}`;
  const letter = flag.short === undefined ? "" : `-${flag.short}, `;
  return [`  ${letter}--${name}${valueOf(flag)}`, wrap(text, terminal.width, "      ")];
}

/** The facts of a flag that are no part of its summary: what it takes, its default, its variable. */
export function factsOf(flag: Flag): readonly string[] {
  return [
    ...(flag.choices === undefined ? [] : [choicesOf(flag.choices)]),
    ...(flag.default === undefined || flag.default === false ? [] : [`default ${String(flag.default)}`]),
    ...(flag.env === undefined
      ? []
      : [`environment ${flag.env}${flag.type === "list" ? ", several apart by blanks" : ""}`]),
  ];
}

/** The value of a flag as it stands behind its name, with a blank before it; nothing for a switch. */
export function valueOf(flag: Flag): string {
  return flag.type === "boolean" ? "" : ` ${flag.placeholder ?? placeholderOf(flag)}`;
}

function placeholderOf(flag: Flag): string {
  if (flag.type === "pairs") return "NAME=VALUE";
  if (flag.type === "comma-pairs") return "NAME=VALUE,…";
  if (flag.type === "duration") return "DURATION";
  return flag.type === "integer" ? "N" : "VALUE";
}

/** Text behind a label, further rows below its beginning. `plain` is the label without colour. */
function hang(label: string, plain: string, text: string, width: number): string {
  const indent = " ".repeat(plain.length + 1);
  return `${label} ${wrap(text, width, indent).slice(indent.length)}`;
}

function wrap(text: string, width: number, indent = ""): string {
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

function choicesOf(choices: readonly string[]): string {
  return choices.length === 1 ? `only ${choices[0]}` : `one of ${choices.join(", ")}`;
}
