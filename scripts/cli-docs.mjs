// Writes docs/reference/cli.md from the tables of the commands, and exit-codes.md from those of exit codes; --check only
// says whether they are stale.
// Run it with: node --conditions=steps-source scripts/cli-docs.mjs
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { COMMAND_EXITS, JOB_EXITS, REPLAY_EXITS } from "../packages/model/src/exit-codes.ts";

const root = join(import.meta.dirname, "..");
const GROUPS = ["", "steps", "trace", "cache", "token"];
const ORDER = ["ci", "local", "run", "compile", "validate", "explain", "lock", "replay"];

const programs = [
  { name: "step-runner", commands: await readCommands("step-runner") },
  { name: "runner-bridge", commands: await readCommands("runner-bridge") },
  { name: "pod", commands: await readCommands("pod") },
];
for (const [name, text] of [
  ["cli.md", document(programs)],
  ["exit-codes.md", exitCodes()],
]) {
  const target = join(root, "docs/reference", name);
  if (!process.argv.includes("--check")) writeFileSync(target, text);
  else if (readOptional(target) !== text) {
    console.error(`docs/reference/${name} is stale: node --conditions=steps-source scripts/cli-docs.mjs writes it`);
    process.exitCode = 1;
  }
}

async function readCommands(app) {
  const { program } = await import(join(root, "apps", app, "src/program.ts"));
  const commands = await Promise.all(Object.values(program.commands).map((load) => load()));
  return commands.toSorted((a, b) => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1));
}

function rank(name) {
  const group = name.includes(" ") ? name.split(" ")[0] : "";
  const place = ORDER.indexOf(name);
  return GROUPS.indexOf(group) * 100 + (place === -1 ? 99 : place);
}

function document(all) {
  return `# Commands

Made from the tables of the commands by \`scripts/cli-docs.mjs\`; do not edit. \`PROGRAM COMMAND --help\` says more, with examples.

A flag wins over its environment variable, which wins over the default. Switches take \`--no-NAME\` too, and
their variables \`true\`, \`false\`, \`1\`, \`0\`, \`yes\`, \`no\`, \`on\`, \`off\`. Durations are \`500ms\`, \`30s\`, \`5m\`, \`2h\`, \`7d\`; a bare number is seconds.

A flag that is repeated for more takes each value as it stands, with its commas and blanks; its variable holds several values apart by
blanks (names and patterns by commas, too). \`--inputs\`, \`--env\` and \`--job\` of \`run\` alone take several pairs at once, as GitLab's step runner does:
they are split before each \`,NAME=\`, and \`'"NAME=VALUE"'\`, in double quotes, is one pair whatever it holds.

${all.map(section).join("\n")}`;
}

function section({ name: program, commands }) {
  return `## \`${program}\`

| command | what it does |
| --- | --- |
${commands.map((command) => `| \`${cell(`${command.name} ${command.usage}`)}\` | ${cell(command.summary)} |`).join("\n")}

${tables(flagsOf(commands), commands)}
`;
}

/** A table for each heading of `--help`. */
function tables(rows, commands) {
  const headings = [...new Set(["Flags", ...rows.map(headingOf)])];
  return headings
    .map((heading) => {
      const shown = rows.filter((row) => headingOf(row) === heading);
      const lines = shown.map(
        ({ name, flag, of }) =>
          `| ${letter(flag)}\`--${name}${value(flag)}\` | ${users(of, commands)} | ${cell(describe(flag))} |`,
      );
      return [`### ${heading}`, "", "| flag | of | what it does |", "| --- | --- | --- |", ...lines].join("\n");
    })
    .join("\n\n");
}

function headingOf({ flag }) {
  return flag.group ?? "Flags";
}

/** Each flag once; one that means something else in another command is another flag. */
function flagsOf(commands) {
  const rows = new Map();
  for (const command of commands) {
    for (const [name, flag] of Object.entries(command.flags)) {
      const key = `${name}\0${JSON.stringify(flag)}`;
      const row = rows.get(key) ?? { name, flag, of: [] };
      rows.set(key, { ...row, of: [...row.of, command.name] });
    }
  }
  return [...rows.values()];
}

function users(of, commands) {
  const missing = commands.map(({ name }) => name).filter((name) => !of.includes(name));
  if (missing.length === 0) return "all";
  return missing.length <= 2 ? `all but ${missing.join(", ")}` : of.join(", ");
}

function letter({ short }) {
  return short === undefined ? "" : `\`-${short}\`, `;
}

function value(flag) {
  if (flag.type === "boolean") return "";
  const usual = { pairs: "NAME=VALUE", "comma-pairs": "NAME=VALUE,…", duration: "DURATION", integer: "N" };
  const placeholder = flag.placeholder ?? flag.choices?.join("|") ?? usual[flag.type] ?? "VALUE";
  return ` ${placeholder.replaceAll("|", "\\|")}`;
}

function describe(flag) {
  const facts = [
    ...(flag.default === undefined || flag.default === false ? [] : [`default \`${flag.default}\``]),
    ...(flag.env === undefined ? [] : [`\`${flag.env}\``]),
  ];
  return `${flag.summary}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
}

function exitCodes() {
  const job = Object.values(JOB_EXITS).map((row) => [number(row), row.when]);
  const command = Object.values(COMMAND_EXITS).map((row) => [number(row), row.when]);
  const replay = Object.entries(REPLAY_EXITS).map(([name, row]) => [
    number(row),
    row.hasNoVerdict === true ? "" : `\`${name}\``,
    row.when,
  ]);
  return `# Exit codes

Made from \`packages/model/src/exit-codes.ts\` by \`scripts/cli-docs.mjs\`; do not edit.

## Of a job: \`ci\`, \`local\`, \`run\`, and the first job of a \`pipeline\` that fails

The first row that fits:

${rowsOf(["code", "when"], job)}

\`runner-bridge run\` and \`runner-bridge follow\` end with the code of the job. Ctrl-C leaves the job of
\`follow\` alone; the command then ends with 130.

An action of GitHub ends like a step: with the code of its process, or of the first of its steps
that failed; with 1 for a command of it that is refused. If actions cannot be had because the
network or credentials are missing the code is 1, if one of them is not there or wrong it is 2.

The message and the trace tell more than the number can: \`exec: exit status 3\` always
ends the message of a failed process.

## Of any command

${rowsOf(["code", "when"], command)}

## Of \`replay\`

${rowsOf(["code", "verdict", "when"], replay)}

\`--report-only\` turns ${REPLAY_EXITS.different.code} and ${REPLAY_EXITS["runtime-drift"].code} into 0, nothing else.
`;
}

function number({ code, addsSignal }) {
  if (code === undefined) return "the process's own";
  return addsSignal === true ? `${code} + N` : String(code);
}

function rowsOf(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`.replaceAll("|  |", "| |");
  return [line(head), line(head.map(() => "---")), ...rows.map((row) => line(row.map(cell)))].join("\n");
}

function cell(text) {
  return text.replaceAll(/(?<!\\)\|/g, "\\|");
}

function readOptional(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}
