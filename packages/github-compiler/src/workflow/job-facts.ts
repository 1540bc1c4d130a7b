import { childOf, type YamlMapping } from "@steps/source";
import { type Contexts, toText } from "@steps/github-language";
import { isMisspelt } from "@steps/source/keys";
import { createObject, type Value } from "@steps/model";
import { quote } from "@steps/model/diagnostic";
import { evaluateAt, UNKNOWN_NEEDS } from "../reading/evaluate.ts";
import { entriesOf, reportUnknownKey, wrongType } from "../reading/mapping.ts";
import type { Reading } from "../reading/reading.ts";
import { conditionOf } from "../reading/templates.ts";
import { textOf } from "../reading/texts.ts";
import { minutesOf } from "../steps/read-common.ts";
import type { ChosenJob } from "./choose-instance.ts";
import { type JobVerdict, judgeJob } from "./judge-job.ts";
import type { MatrixValues } from "./matrix.ts";
import { readContainer } from "./read-container.ts";
import { readRunsOn } from "./read-runs-on.ts";

/** A job of a workflow without its steps. */
export interface WorkflowJob {
  readonly id: string;
  /** As GitHub shows it: `test (ubuntu, 20)`. */
  readonly name: string;
  /** `undefined`: the workflow has no name. */
  readonly workflowName: string | undefined;
  readonly matrix: MatrixValues | undefined;
  /** The labels that it asks for. */
  readonly runsOn: readonly string[];
  /** The ids of the jobs that it needs. */
  readonly needs: readonly string[];
  /** The condition of the job in GitHub's language. */
  readonly if: string | undefined;
  /** The result of the condition if all jobs before this one have succeeded. */
  readonly verdict: JobVerdict;
  readonly timeoutMinutes: number | undefined;
  /** `{image, env, ports, volumes, options, credentials}`, texts in GitHub's language. */
  readonly container: Value | undefined;
  /** The service containers by name, in the form of `container`. */
  readonly services: Readonly<Record<string, Value>>;
  /** The names of its outputs. */
  readonly outputs: readonly string[];
}

const KEYS: readonly string[] = [
  "name",
  "needs",
  "if",
  "strategy",
  "runs-on",
  "timeout-minutes",
  "cancel-timeout-minutes",
  "continue-on-error",
  "container",
  "services",
  "env",
  "environment",
  "permissions",
  "concurrency",
  "outputs",
  "defaults",
  "steps",
  "snapshot",
];

/** Keys that have no effect here: what happens instead, the rest of a sentence. */
const IGNORED: Readonly<Record<string, string>> = {
  "cancel-timeout-minutes": "the steps have the time to end that the runner gives",
  concurrency: "other jobs are neither waited for nor cancelled",
  "continue-on-error": "a failure of the job is a failure",
  environment: "nothing is deployed, and no rule of the environment is asked for",
  permissions: "a token has the permissions that it has",
  snapshot: "no image is made",
};

/** Keys that have an effect where the jobs of the workflow are run together. */
const HONOURED_IN_PIPELINE: readonly string[] = ["concurrency", "continue-on-error"];

/**
 * Reports the keys of a job that are unknown or have no effect. `false`: the job cannot run here at all.
 *
 * @param isInPipeline whether the other jobs of the workflow run too
 */
export function checkJobKeys(reading: Reading, { job }: ChosenJob, isInPipeline: boolean): boolean {
  const { report } = reading;
  const uses = job.value.entries.get("uses");
  if (uses !== undefined) {
    const message = `The job ${quote(job.id)} calls another workflow, which is not supported`;
    report.error(uses.key, { code: "not-supported", message, hint: "Run a job of that workflow by its own file." });
    return false;
  }
  for (const [name, { key }] of entriesOf(reading, job.value, `The job ${quote(job.id)}`)) {
    const instead = Object.hasOwn(IGNORED, name) ? IGNORED[name] : undefined;
    if (isInPipeline && HONOURED_IN_PIPELINE.includes(name)) continue;
    if (instead !== undefined) {
      report.note(key, { code: "key-not-honoured", message: `"${name}" has no effect: ${instead}` });
    } else if (!KEYS.includes(name)) {
      reportUnknownKey(reading, { name, key, what: `the job ${quote(job.id)}` }, { known: KEYS });
    }
  }
  return true;
}

/** Whether a key that the job does not have was reported as an unknown one, with it as the advice. */
export function isMisspeltIn(job: YamlMapping, name: string): boolean {
  return !job.entries.has(name) && isMisspelt(job.entries.keys(), [name], { known: KEYS });
}

/** A job whose facts are read. */
interface FactsOf extends ChosenJob {
  readonly contexts: Contexts;
  /** Whether the other jobs of the workflow run too. */
  readonly isInPipeline: boolean;
}

/** Reads what surrounds the steps of a job. */
export function readJobFacts(
  reading: Reading,
  { job, instance, contexts, isInPipeline }: FactsOf,
): Omit<WorkflowJob, "workflowName" | "outputs"> {
  const at = (key: string): ReturnType<typeof childOf> => childOf(job.value, key);
  const ifNode = at("if");
  const condition =
    ifNode === undefined ? undefined : conditionOf(reading, ifNode, { what: `"if" of the job`, at: "job-if" });
  return {
    id: job.id,
    name: instance.name,
    matrix: instance.matrix,
    runsOn: isMisspeltIn(job.value, "runs-on") ? [] : readRunsOn(reading, at("runs-on"), { key: job.key, contexts }),
    needs: readNeeds(reading, job.value, isInPipeline || contexts["needs"] !== UNKNOWN_NEEDS),
    if: condition,
    verdict: judgeJob(reading, { node: ifNode, condition, contexts }),
    timeoutMinutes: readTimeout(reading, job.value, contexts),
    ...readContainers(reading, job.value, contexts),
  };
}

function readNeeds(reading: Reading, job: YamlMapping, areRun: boolean): readonly string[] {
  const node = childOf(job, "needs");
  if (node === undefined) return [];
  const items = node.kind === "list" ? node.items : [node];
  const ids = items.map((item) => textOf(reading, item, `An item of "needs"`) ?? "").filter((id) => id !== "");
  if (ids.length === 0 || areRun) return ids;
  const message = `The jobs that this one needs are not run: ${ids.slice(0, 20).map(quote).join(", ")}`;
  reading.report.note(node, {
    code: "key-not-honoured",
    message,
    hint: "Their outputs are empty unless they are given.",
  });
  return ids;
}

function readTimeout(reading: Reading, job: YamlMapping, contexts: Contexts): number | undefined {
  const node = childOf(job, "timeout-minutes");
  if (node === undefined) return undefined;
  const text = minutesOf(reading, node, { what: `"timeout-minutes" of the job`, at: "job-timeout-minutes" });
  const value = text === undefined ? undefined : evaluateAt(reading, node, { text, contexts });
  if (value === undefined) return undefined;
  const minutes = Number(toText(value));
  if (minutes > 0) return minutes;
  const message = `"timeout-minutes" of the job takes a number of minutes, not ${quote(toText(value))}`;
  reading.report.error(node, { code: "invalid-value", message });
  return undefined;
}

function readContainers(
  reading: Reading,
  job: YamlMapping,
  contexts: Contexts,
): Pick<WorkflowJob, "container" | "services"> {
  const node = childOf(job, "container");
  const pointer = ["definition", "github", "container"];
  const container =
    node === undefined
      ? undefined
      : readContainer(reading, node, { what: `"container"`, at: "job-container", pointer, contexts });
  const services = createObject<Value>();
  for (const [name, { key, value }] of entriesOf(reading, childOf(job, "services"), `"services"`)) {
    if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)) {
      reading.report.error(key, {
        code: "invalid-name",
        message: `The name of a service is malformed: ${quote(name)}`,
      });
      continue;
    }
    if (value.kind === "list") wrongType(reading, value, `The service ${quote(name)} must be an image or a mapping`);
    const service = readContainer(reading, value, {
      what: `the service ${quote(name)}`,
      at: "job-services",
      pointer: ["definition", "github", "services", name],
      contexts,
    });
    if (service !== undefined) services[name] = service;
  }
  return { container, services };
}
