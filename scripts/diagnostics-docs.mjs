// Writes docs/reference/diagnostics.md from the tables of the packages; --check only says whether it is stale.
// Run it with: node --conditions=steps-source scripts/diagnostics-docs.mjs
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { COMPILER_RULES } from "../packages/compiler/src/index.ts";
import { CHECK_RULES } from "../packages/engine/src/check/check-rules.ts";
import { GITHUB_RULES } from "../packages/github-compiler/src/index.ts";
import { CI_RULES } from "../packages/gitlab-ci/src/index.ts";
import { SOURCE_RULES } from "../packages/source/src/index.ts";

const target = join(import.meta.dirname, "../docs/reference/diagnostics.md");
const text = `# Diagnostics

Made from the tables of the packages by \`scripts/diagnostics-docs.mjs\`; do not edit. These are the mistakes that an author of steps can make, each told with its place. The codes do not change; they are the
rules of \`validate --format sarif\`. Failures of steps and errors of the packages are in [errors](errors.md).

## Of texts of several languages

${table(SOURCE_RULES)}

## Of a step file or a list of steps

${table(COMPILER_RULES)}

## Of what steps name (\`compile --eager\`)

${table(CHECK_RULES)}

## Of a \`.gitlab-ci.yml\`

${table(CI_RULES)}

## Of an \`action.yml\` or a workflow of GitHub

${table(GITHUB_RULES)}
`;
if (process.argv.includes("--check")) {
  if (!existsSync(target) || readFileSync(target, "utf8") !== text) {
    console.error(
      "docs/reference/diagnostics.md is stale: node --conditions=steps-source scripts/diagnostics-docs.mjs writes it",
    );
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, text);
}

function table(rules) {
  const rows = Object.entries(rules).map(
    ([code, { title, help }]) => `| \`${code}\` | ${cell(title)} | ${cell(help)} |`,
  );
  return ["| code | what is wrong | what to do |", "| --- | --- | --- |", ...rows].join("\n");
}

function cell(text) {
  return text.replaceAll("|", "\\|");
}
