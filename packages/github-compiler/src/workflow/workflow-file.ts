import { describeNode, readYaml, type YamlEntry, type YamlMapping } from "@steps/source";
import { quote, type Source } from "@steps/model/diagnostic";
import { entriesOf, isNull, reportUnknownKey, wrongType } from "../reading/mapping.ts";
import { readDocument, type Reading } from "../reading/reading.ts";
import { proseOf } from "../reading/texts.ts";
import { checkEvents } from "./check-events.ts";
import { checkNeeds } from "./check-needs.ts";
import { checkPermissions } from "./check-permissions.ts";
import { checkInputTypes } from "./workflow-inputs.ts";

/** A workflow as far as its jobs. */
export interface WorkflowFile {
  readonly root: YamlMapping;
  readonly name: string | undefined;
  /** By their ids, in the order of the file. */
  readonly jobs: ReadonlyMap<string, JobEntry>;
}

export interface JobEntry extends YamlEntry {
  readonly id: string;
  readonly value: YamlMapping;
}

const KEYS: readonly string[] = [
  "on",
  "name",
  "description",
  "run-name",
  "defaults",
  "env",
  "permissions",
  "concurrency",
  "jobs",
];

const ID = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** Whether a text is a workflow, wherever it lies: a mapping with `on` and `jobs`. */
export function isWorkflowText(source: Source): boolean {
  // A key stands in the text as it is, unless it is written with escapes: a list of thousands of steps is not read for it.
  if (!source.text.includes("jobs") && !source.text.includes("\\")) return false;
  const [root] = readYaml(source).documents;
  return root?.kind === "mapping" && root.entries.has("on") && root.entries.has("jobs");
}

/** Reads a workflow as far as its jobs. `undefined`: it is none, which was reported. */
export function readWorkflow(reading: Reading, source: Source): WorkflowFile | undefined {
  const root = readDocument(reading, source);
  if (root === undefined) return undefined;
  for (const [name, { key }] of entriesOf(reading, root, "The workflow")) {
    if (!KEYS.includes(name)) reportUnknownKey(reading, { name, key, what: "the workflow" }, { known: KEYS });
  }
  checkOn(reading, root);
  checkInputTypes(reading, root);
  checkPermissions(reading, root.entries.get("permissions")?.value);
  const nameNode = root.entries.get("name")?.value;
  const name = nameNode === undefined ? undefined : proseOf(reading, nameNode, `"name" of the workflow`);
  const jobs = readJobs(reading, root);
  return jobs === undefined ? undefined : { root, name, jobs };
}

function checkOn(reading: Reading, root: YamlMapping): void {
  const on = root.entries.get("on")?.value;
  if (on !== undefined && !isNull(on)) return checkEvents(reading, on);
  const hint = "Write on: push, or a list or mapping of events.";
  reading.report.error(on ?? root, {
    code: "missing-key",
    message: `The workflow has no "on", the events that start it`,
    hint,
  });
}

function readJobs(reading: Reading, root: YamlMapping): ReadonlyMap<string, JobEntry> | undefined {
  const node = root.entries.get("jobs")?.value;
  if (node?.kind !== "mapping" || node.entries.size === 0) {
    const found =
      node === undefined ? "" : `: found ${node.kind === "mapping" ? "an empty mapping" : describeNode(node)}`;
    reading.report.error(node ?? root, { code: "invalid-workflow", message: `The workflow has no "jobs"${found}` });
    return undefined;
  }
  const jobs = new Map<string, JobEntry>();
  for (const [id, { key, value }] of entriesOf(reading, node, `"jobs"`)) {
    if (!ID.test(id)) {
      const hint = 'Ids hold letters, digits, "_" and "-", and begin with a letter or "_".';
      reading.report.error(key, { code: "invalid-name", message: `The id of a job is malformed: ${quote(id)}`, hint });
    } else if (value.kind === "mapping") jobs.set(id, { id, key, value });
    else wrongType(reading, value, `The job ${quote(id)} must be a mapping`);
  }
  for (const { value } of jobs.values()) checkPermissions(reading, value.entries.get("permissions")?.value);
  checkNeeds(reading, jobs);
  return jobs;
}
