// Writes docs/reference/gitlab-steps.md from the specs of the library; --check only says whether it is stale.
// Run it with: node --conditions=steps-source scripts/gitlab-steps-docs.mjs
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUILTIN_NAMES, builtinStep, gitlabScriptStep } from "../packages/builtins/src/index.ts";

const target = join(import.meta.dirname, "../docs/reference/gitlab-steps.md");
const names = BUILTIN_NAMES.filter((name) => name.startsWith("gitlab/")).toSorted();
const text = `# Steps of the library for jobs

Made from the specs by \`scripts/gitlab-steps-docs.mjs\`; do not edit.

A job of a [\`.gitlab-ci.yml\`](gitlab-ci.md) is compiled to these steps, each of which does one part
of what GitLab's runner does around a script. They are steps as any other: every list may name them.

\`\`\`yaml
run:
  - name: restore
    step: builtin://gitlab/cache-restore
    inputs: &cache
      cache_dir: /var/cache/jobs
      caches: [{key: {files: [go.sum], prefix: go}, paths: [vendor/], fallback_keys: [go]}]
  - script: go build -o dist/ ./...
  - step: builtin://gitlab/cache-save
    if: \${{ !steps.restore.outputs.hit }}
    inputs: *cache
  - step: builtin://gitlab/artifacts-upload
    inputs: {artifacts_dir: /var/lib/artifacts, job: build, paths: [dist/]}
\`\`\`

**Patterns** of \`paths\` and \`exclude\` are those of doublestar: \`*\` and \`?\` match no slash, \`**\` as
a whole part matches any number of folders, also none; \`[a-z]\`, \`{a,b}\` and \`\\\` as usual; hidden
files are matched like others. Everything that \`paths\` match is taken with all that is in it;
\`exclude\` leaves out what it matches itself, so \`dir/**\` for all that is in a folder. Links are
not followed but kept as links. The repository of the project is never taken, nor is a link that
leads out of the project to anything but the programs of the system.

**Stores** are folders that any number of jobs may use at once. An entry is replaced as a whole, by
one rename; its archive is checked against its digest before it is looked into
([ADR 33](../adr/0033-what-jobs-keep-on-one-machine.md)). The folder of a job's artifacts has
\`artifacts.zip\`, \`metadata.json\`, \`reports/TYPE/…\`, \`dotenv.json\` and \`release.json\`, as far as
there are such.

${names.map(section).join("\n\n")}
`;
if (process.argv.includes("--check")) {
  if (!existsSync(target) || readFileSync(target, "utf8") !== text) {
    console.error(
      "docs/reference/gitlab-steps.md is stale: node --conditions=steps-source scripts/gitlab-steps-docs.mjs writes it",
    );
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, text);
}

function section(name) {
  const { description = "", inputs, outputs } = (builtinStep(name) ?? gitlabScriptStep).spec;
  const sentence = description.endsWith(".") ? description : `${description}.`;
  const parts = [`## \`builtin://${name}\``, sentence, inputTable(inputs)];
  if (Object.keys(outputs).length > 0) parts.push(outputTable(outputs));
  return parts.join("\n\n");
}

function inputTable(inputs) {
  const rows = Object.entries(inputs).map(([name, spec]) => {
    const value = spec.default === undefined ? "required" : `\`${JSON.stringify(spec.default)}\``;
    const mark = spec.isSensitive ? ", sensitive" : "";
    return `| \`${name}\` | ${spec.type}${mark} | ${value} | ${cell(spec.description)} |`;
  });
  return ["| input | type | default | |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

function outputTable(outputs) {
  const rows = Object.entries(outputs).map(
    ([name, spec]) => `| \`${name}\` | ${spec.type} | ${cell(spec.description)} |`,
  );
  return ["| output | type | |", "| --- | --- | --- |", ...rows].join("\n");
}

function cell(text = "") {
  return text.replaceAll("|", "\\|");
}
