import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { actions } from "./cases/actions.ts";
import { docker } from "./cases/docker.ts";
import { fiveHundredSteps } from "./cases/five-hundred-steps.ts";
import { gitlabCiLocal } from "./cases/gitlab-ci-local.ts";
import { large } from "./cases/large.ts";
import { loading } from "./cases/loading.ts";
import { masking } from "./cases/masking.ts";
import { output } from "./cases/output.ts";
import { podClaims } from "./cases/pod-claims.ts";
import { podHeld } from "./cases/pod-held.ts";
import { podModes } from "./cases/pod-modes.ts";
import { pods } from "./cases/pods.ts";
import { service } from "./cases/service.ts";
import { start } from "./cases/start.ts";
import { warmComponent } from "./cases/warm-component.ts";
import type { Row } from "./measure.ts";

const scratch = mkdtempSync(join(tmpdir(), "steps-bench-"));
const env = { PATH: process.env["PATH"] ?? "", HOME: scratch };
const cases: Readonly<Record<string, () => Promise<Row[]>>> = {
  start: () => start(env),
  steps: () => fiveHundredSteps(env, scratch),
  large: () => large(env, scratch),
  component: () => warmComponent(scratch),
  output: () => output(env, scratch),
  masking: () => Promise.resolve(masking()),
  service: () => service(scratch),
  docker: () => docker(scratch),
  actions: () => actions(env, scratch),
  loading: () => loading(),
  "pod-modes": () => podModes(scratch),
  "gitlab-ci-local": () => gitlabCiLocal(env, scratch),
  pods: () => pods(scratch),
  "pod-claims": () => podClaims(scratch),
  "pod-held": () => podHeld(scratch),
};

const HELP = `Usage: pnpm bench [CASE]... [--json FILE] [--compare FILE]

Prints a table of speed and memory, in both forms of the command, with what was aimed at.
Without a CASE all are measured, one after the other, which takes long.

  --json FILE     appends a line of JSON with all rows to FILE
  --compare FILE  shows the rows of the last line of FILE beside those of this run

Cases: ${Object.keys(cases).join(", ")}`;

const { positionals, values } = readArguments();
const unknown = positionals.find((name) => cases[name] === undefined);
if (unknown !== undefined) endWith(`There is no case "${unknown}"`);
const before = values.compare === undefined ? undefined : lastRows(values.compare);
const rows: Row[] = [];
process.stderr.write(`bench: load ${loadavg()[0]?.toFixed(1)} on ${cpus().length} processors\n`);
try {
  for (const [name, run] of Object.entries(cases)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    process.stderr.write(`bench: ${name}, load ${loadavg()[0]?.toFixed(1)}\n`);
    try {
      rows.push(...(await run()));
    } catch (error) {
      // The others are worth their time all the same.
      process.stderr.write(`bench: ${name} failed: ${String(error)}\n`);
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

const cells = rows.map((row) => [
  row.name,
  row.floor,
  row.measured,
  row.ratio?.toFixed(2) ?? "–",
  row.best?.toFixed(2) ?? "–",
  row.target,
  row.target === "–" ? "–" : row.isMet ? "yes" : "NO",
  ...(before === undefined ? [] : [before.get(row.name) ?? "–"]),
]);
const heads = [
  "what",
  "floor",
  "measured",
  "ratio",
  "of the best",
  "target",
  "met",
  ...(before === undefined ? [] : ["before"]),
];
const table = [heads, ...cells];
const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => (row[column] ?? "").length)));
for (const row of table)
  process.stdout.write(`| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |\n`);
if (values.json !== undefined) {
  const at = new Date().toISOString();
  appendFileSync(values.json, `${JSON.stringify({ at, node: process.version, load: loadavg(), rows })}\n`);
}

/** What the command line asks for. Help, and what cannot be read, end the program. */
function readArguments() {
  const options = {
    json: { type: "string" },
    compare: { type: "string" },
    help: { type: "boolean", short: "h" },
  } as const;
  try {
    const read = parseArgs({ allowPositionals: true, options });
    if (read.values.help !== true) return read;
  } catch (error) {
    return endWith(error instanceof Error ? error.message : String(error));
  }
  return endWith();
}

function endWith(problem?: string): never {
  rmSync(scratch, { recursive: true, force: true });
  if (problem === undefined) process.stdout.write(`${HELP}\n`);
  else process.stderr.write(`bench: ${problem}\n\n${HELP}\n`);
  process.exit(problem === undefined ? 0 : 2);
}

/** The ratios, or else the numbers, of the last line that `--json` has written to a file, by the names of their rows. */
function lastRows(path: string): ReadonlyMap<string, string> {
  const last = JSON.parse(readFileSync(path, "utf8").trimEnd().split("\n").at(-1) ?? "") as { readonly rows: Row[] };
  return new Map(last.rows.map((row) => [row.name, row.ratio?.toFixed(2) ?? row.measured]));
}
