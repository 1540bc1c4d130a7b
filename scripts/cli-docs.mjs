// Writes docs/reference/cli.md from the tables of the commands; --check only says whether it is stale.
// Run it with: node --conditions=@steps/source scripts/cli-docs.mjs
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const target = join(root, "docs/reference/cli.md");
const GROUPS = ["", "steps", "trace", "cache"];
const ORDER = ["ci", "local", "run", "compile", "validate", "explain", "lock", "replay"];

const programs = [
  { name: "step-runner", commands: await readCommands("step-runner") },
  { name: "runner-bridge", commands: await readCommands("runner-bridge") },
];
const text = document(programs);
if (process.argv.includes("--check")) {
  if (readOptional(target) !== text) {
    console.error("docs/reference/cli.md is stale: node --conditions=@steps/source scripts/cli-docs.mjs writes it");
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, text);
}

async function readCommands(app) {
  const folder = join(root, "apps", app, "src/commands");
  const files = readdirSync(folder).filter((name) => name.endsWith(".ts") && !name.includes(".test."));
  const modules = await Promise.all(files.map((name) => import(join(folder, name))));
  return modules
    .flatMap((module) => Object.values(module).filter((value) => typeof value?.run === "function"))
    .toSorted((a, b) => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1));
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
        ({ name, flag, of }) => `| \`--${name}${value(flag)}\` | ${users(of, commands)} | ${cell(describe(flag))} |`,
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
