// node scripts/pod-modes-docs.mjs FILE: writes the figures of the modes of pods into their page, from the last line of FILE that
// `pnpm bench pod-modes --json FILE` has written.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("Usage: node scripts/pod-modes-docs.mjs FILE");
const page = join(root, "docs/guide/pod-modes.md");
const MODES = ["A direct", "A router", "B daemon", "C prefix"];
const run = JSON.parse(readFileSync(file, "utf8").trimEnd().split("\n").at(-1) ?? "");
/** @type {Map<string, { measured: string, ratio?: number }>} */
const rows = new Map(run.rows.map((row) => [row.name, row]));
// On a busy machine, times and rates say nothing, and neither do the shares that are made of them, such as "1.00 ".
const isBusy = run.load[0] > 3;
const depends = / (?:ms|ms\/s|\/s)$|^\d+\.00 $/;
const names = [...rows.keys()]
  .filter((name) => name.startsWith(`${MODES[0]}: `))
  .map((name) => name.split(": ")[1])
  .filter((name) => !isBusy || !depends.test(rows.get(`${MODES[0]}: ${name}`)?.measured ?? ""));
const lines = names.map((name) => {
  const [floor, ...others] = MODES.map((mode) => rows.get(`${mode}: ${name}`));
  const ratios = others.map(({ measured, ratio }) => (ratio === undefined ? measured.trim() : `× ${ratio.toFixed(1)}`));
  return `| ${[name, floor.measured.trim(), ...ratios].join(" | ")} |`;
});
const about = `${run.at.slice(0, 10)}, Node ${run.node.slice(1)}, load ${run.load[0].toFixed(1)}`;
const left = isBusy ? " Times are left out: the machine had other work." : "";
const table = [
  "| | A, no router | A | B | C |",
  "| --- | ---: | ---: | ---: | ---: |",
  ...lines,
  "",
  `Measured ${about}.${left}`,
];
const text = readFileSync(page, "utf8");
const place = /(<!-- figures -->\n)[^]*(<!-- end of figures -->)/;
if (!place.test(text)) throw new Error(`${page} has no place for the figures`);
writeFileSync(
  page,
  text.replace(place, (_, begin, end) => `${begin}\n${table.join("\n")}\n\n${end}`),
);
