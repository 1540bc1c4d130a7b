// Writes docs/reference/conformance.md (section → cases) and docs/reference/compatibility.md (feature → cases) from the corpus;
// --check only says what is stale. A section without a title and a feature without its cases are errors.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const { parse } = createRequire(join(root, "packages/conformance/package.json"))("yaml");
const read = (path) => readFileSync(join(root, path), "utf8");

const folder = "conformance/cases";
const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter((path) =>
  path.endsWith(".yml"),
);
const cases = files.toSorted().flatMap((file) =>
  parse(read(join(folder, file)), { version: "1.2" }).map(({ name, section, kind }) => ({
    file,
    name,
    section,
    kind,
  })),
);
const titles = parse(read("conformance/sections.yml"), { mapAsMap: true });
const problems = [];
const pages = new Map([
  ["docs/reference/conformance.md", conformancePage()],
  ["docs/reference/compatibility.md", compatibilityPage()],
]);
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
const stale = [...pages].filter(([path, text]) => !existsSync(join(root, path)) || read(path) !== text);
if (!process.argv.includes("--check")) for (const [path, text] of stale) writeFileSync(join(root, path), text);
else if (stale.length > 0) {
  console.error(`Stale: ${stale.map(([path]) => path).join(", ")}; node scripts/conformance-table.mjs writes them`);
  process.exitCode = 1;
}

function conformancePage() {
  const sections = Map.groupBy(cases, ({ section }) => section);
  for (const [section, [{ file, name }]] of sections) {
    if (!titles.has(section)) problems.push(`conformance/sections.yml has no section "${section}" (${file}: ${name})`);
  }
  const order = [...titles.keys()].filter((section) => sections.has(section));
  const rows = order.map((section) => {
    const found = sections.get(section);
    const links = [...new Set(found.map(({ file }) => file))].map(link).join(", ");
    return `| ${section} | ${cell(titles.get(section))} | ${found.length} | ${links} |`;
  });
  const kinds = Map.groupBy(cases, ({ kind }) => kind);
  const counts = [...kinds].map(([kind, found]) => `${found.length} \`${kind}\``).join(", ");
  return `# Conformance cases by section

Made by \`scripts/conformance-table.mjs\`; do not edit. ${cases.length} cases: ${counts}. What a case is stands in [conformance](../../conformance/README.md);
any step runner can be measured by those that run a command.

| section | about | cases | files |
| --- | --- | --- | --- |
${rows.join("\n")}
`;
}

function compatibilityPage() {
  const known = new Set(cases.map(({ file, name }) => `${file}: ${name}`));
  const features = parse(read("conformance/features.yml"));
  const rows = features.map(({ feature, years, us, cases: shown = [], tests = [], note = "" }) => {
    const missing = shown.filter((id) => !known.has(id));
    if (missing.length > 0) problems.push(...missing.map((id) => `conformance/features.yml names no case: ${id}`));
    const gone = tests.filter((path) => !existsSync(join(root, path)));
    if (gone.length > 0) problems.push(...gone.map((path) => `conformance/features.yml names no test: ${path}`));
    if (us === "Y" && shown.length + tests.length === 0)
      problems.push(`conformance/features.yml: no case shows "${feature}"`);
    const links = shown.map((id) => {
      const file = id.slice(0, id.indexOf(": "));
      return `${link(file)} *${cell(id.slice(file.length + 2))}*`;
    });
    for (const path of tests) links.push(`[${path}](../../${path})`);
    const [blueprint, y2025, y2026] = years;
    return `| ${cell(feature)} | ${blueprint} | ${y2025} | ${y2026} | **${us}** | ${[cell(note), ...links].filter((part) => part !== "").join("; ")} |`;
  });
  const count = (mark) => features.filter(({ us }) => us === mark).length;
  return `# Compatibility

Made from \`conformance/features.yml\` by \`scripts/conformance-table.mjs\`; do not edit. The table shows what the blueprint of 2024, GitLab's step runner of 2025 and GitLab Functions of 2026 have, and what
this runner has: Y yes, P in part, N no, – does not apply, ? not known. Of ${features.length} features ${count("Y")} are Y, ${count("P")} P, ${count("N")} N. Each Y names the conformance cases
that show it, or the tests where no command can.

| feature | 2024 | 2025 | 2026 | here | shown by |
| --- | --- | --- | --- | --- | --- |
${rows.join("\n")}

Where the years contradict each other, the newest holds; \`--compat 2025\`, \`blueprint\` and \`auto\` bring back what cannot be told from the file, \`--lenient\`, \`--strict-moa\`,
\`--strict-env\` and \`--sensitive warn\` choose between strict and kind. See [commands](cli.md) and [steps](steps.md).
`;
}

function link(file) {
  return `[${file.replace(/\.yml$/, "")}](../../${folder}/${file})`;
}

function cell(text) {
  return String(text).replaceAll("|", "\\|").replaceAll("\n", " ");
}
