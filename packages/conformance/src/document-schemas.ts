import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";

type Schema = Readonly<Record<string, unknown>>;

/** The documents that a command writes besides its streams, by the names of their schemas. */
export type DocumentKind = "trace" | "pipeline-trace" | "step-results";

const folder = join(import.meta.dirname, "../../trace/schemas");
const ajv = new Ajv2020({
  allErrors: true,
  strict: true,
  strictRequired: false,
  strictTypes: false,
  validateFormats: false,
});
const validators = {
  trace: compile("trace"),
  "pipeline-trace": compile("pipeline-trace"),
  "step-results": compile("step-results"),
};

/** Returns the published schema's objections to a document, and the members that the schema does not know. */
export function schemaProblems(kind: DocumentKind, document: unknown): string[] {
  const validate = validators[kind];
  if (validate(document)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    return `${kind}.json: ${instancePath} ${message ?? ""} ${JSON.stringify(params)}`;
  });
}

/** Says which schema a trace has: that of a run, or that of a pipeline. */
export function traceKind(document: unknown): DocumentKind {
  const isPipeline = typeof document === "object" && document !== null && "pipelineFormatVersion" in document;
  return isPipeline ? "pipeline-trace" : "trace";
}

function compile(kind: DocumentKind): ReturnType<Ajv2020["compile"]> {
  const published = JSON.parse(readFileSync(join(folder, `${kind}.json`), "utf8")) as Schema;
  return ajv.compile({ ...closed(published), $id: `urn:steps:test:${kind}` });
}

// The published schemas allow members of later years; what is written today has to be in them.
function closed(schema: Schema): Schema {
  const inner = Object.entries(schema).map(([key, value]) => {
    const isMap = key === "$defs" || key === "properties";
    if (isMap)
      return [key, Object.fromEntries(Object.entries(value as Schema).map(([k, v]) => [k, closed(v as Schema)]))];
    return [key, key === "items" || key === "additionalProperties" ? closed(value as Schema) : value];
  });
  const copy = Object.fromEntries(inner) as Schema;
  return "properties" in copy ? { ...copy, additionalProperties: false } : copy;
}
