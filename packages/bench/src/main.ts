import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { actions } from "./cases/actions.ts";
import { docker } from "./cases/docker.ts";
import { fiveHundredSteps } from "./cases/five-hundred-steps.ts";
import { gitlabCiLocal } from "./cases/gitlab-ci-local.ts";
import { loading } from "./cases/loading.ts";
import { masking } from "./cases/masking.ts";
import { output } from "./cases/output.ts";
import { service } from "./cases/service.ts";
import { start } from "./cases/start.ts";
import { warmComponent } from "./cases/warm-component.ts";
import type { Row } from "./measure.ts";

const scratch = mkdtempSync(join(tmpdir(), "steps-bench-"));
const env = { PATH: process.env["PATH"] ?? "", HOME: scratch };
const cases: Readonly<Record<string, () => Promise<Row[]>>> = {
  start: () => start(env),
  steps: () => fiveHundredSteps(env, scratch),
  component: () => warmComponent(scratch),
  output: () => output(env, scratch),
  masking: () => Promise.resolve(masking()),
  service: () => service(scratch),
  docker: () => docker(scratch),
  actions: () => actions(env, scratch),
  loading: () => loading(),
  "gitlab-ci-local": () => gitlabCiLocal(env, scratch),
};

const [only] = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
const json = process.argv.find((arg) => arg.startsWith("--json="))?.slice("--json=".length);
const rows: Row[] = [];
try {
  for (const [name, run] of Object.entries(cases)) {
    if (only !== undefined && only !== name) continue;
    process.stderr.write(`bench: ${name}\n`);
    rows.push(...(await run()));
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

const cells = rows.map((row) => [
  row.name,
  row.floor,
  row.measured,
  row.ratio?.toFixed(2) ?? "–",
  row.target,
  row.isMet ? "yes" : "NO",
]);
const table = [["what", "floor", "measured", "ratio", "target", "met"], ...cells];
const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => (row[column] ?? "").length)));
for (const row of table)
  process.stdout.write(`| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |\n`);
if (json !== undefined)
  appendFileSync(json, `${JSON.stringify({ at: new Date().toISOString(), node: process.version, rows })}\n`);
