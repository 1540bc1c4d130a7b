// Writes packages/compiler/schemas from the tables of the compiler, and packages/trace/schemas from the messages; --check
// only says what is stale. Run it with: node --conditions=steps-source scripts/schemas.mjs
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SCHEMA_KINDS, schemaOf } from "../packages/compiler/src/index.ts";
import { protoSchema, readProto } from "./proto-schema.mjs";

const types = readProto();
const shown = (schema) => `${JSON.stringify(schema, null, 2)}\n`;
const folders = [
  ["compiler", SCHEMA_KINDS.map((kind) => [`${kind}.json`, shown(schemaOf(kind))])],
  [
    "trace",
    [
      {
        name: "trace",
        message: ".steps.v1.Trace",
        title: "What really ran, with what, and what came out of it: trace.json",
        required: ["formatVersion", "traceId", "root"],
      },
      {
        name: "pipeline-trace",
        message: ".steps.v1.PipelineTrace",
        title: "The jobs of a pipeline with the traces of their runs: the trace.json of a pipeline",
        required: ["pipelineFormatVersion", "traceId"],
      },
      {
        name: "step-results",
        message: ".steps.v1.StepResult",
        title: "The result tree in the form of GitLab's step runner: step-results.json",
        required: [],
      },
    ].map(({ name, message, ...rest }) => [
      `${name}.json`,
      shown(protoSchema(types, message, { id: `urn:steps:schema:${name}`, ...rest })),
    ]),
  ],
];

const stale = folders.flatMap(([name, files]) =>
  update(join(import.meta.dirname, "../packages", name, "schemas"), files),
);
if (stale.length > 0 && process.argv.includes("--check")) {
  console.error(
    `Schemas are stale: ${stale.join(", ")}; node --conditions=steps-source scripts/schemas.mjs writes them`,
  );
  process.exitCode = 1;
}

/** Gives the names of what is stale, and mends it unless it is only to be checked. */
function update(folder, files) {
  const wanted = new Map(files);
  const found = existsSync(folder) ? readdirSync(folder) : [];
  const surplus = found.filter((name) => !wanted.has(name));
  const changed = [...wanted].filter(
    ([name, text]) => !found.includes(name) || readFileSync(join(folder, name), "utf8") !== text,
  );
  if (!process.argv.includes("--check")) {
    mkdirSync(folder, { recursive: true });
    for (const name of surplus) rmSync(join(folder, name));
    for (const [name, text] of changed) writeFileSync(join(folder, name), text);
  }
  return [...changed.map(([name]) => name), ...surplus];
}
