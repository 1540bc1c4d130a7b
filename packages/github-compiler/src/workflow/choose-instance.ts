import { type Contexts, toText } from "@steps/github-language";
import { nearest, quote } from "@steps/model/diagnostic";
import { createReading, type Reading } from "../reading/reading.ts";
import { type JobInstance, readInstances } from "./job-instances.ts";
import type { JobEntry, WorkflowFile } from "./workflow-file.ts";
import type { CompileWorkflowJobOptions } from "./workflow-options.ts";

export interface ChosenJob {
  readonly job: JobEntry;
  readonly instance: JobInstance;
}

/** Names that a message lists. */
const MAX_LISTED = 20;

/** Finds the one instance that is meant: by the job's id, by a name in full, by its number, by its matrix. Anything else is reported. */
export function chooseInstance(
  reading: Reading,
  file: WorkflowFile,
  { contexts, options }: { readonly contexts: Contexts; readonly options: CompileWorkflowJobOptions },
): ChosenJob | undefined {
  const { jobName, matrix = {} } = options;
  const byId = jobName === undefined ? onlyJob(file) : findById(file, jobName);
  if (byId !== undefined) {
    const instances = readInstances(reading, byId, contexts);
    if (instances === undefined) return undefined;
    // A matrix of an empty value has an instance that is called as its job is.
    const called = jobName === undefined ? [] : instances.filter(({ name }) => name === jobName);
    return pick(reading, file, { candidates: called.length === 1 ? called : instances, matrix, asked: byId.id });
  }
  // The matrices of other jobs may be wrong; that is not what was asked.
  const all = [...file.jobs.values()].flatMap((job) => readInstances(createReading("workflow"), job, contexts) ?? []);
  const named = jobName === undefined ? all : (findByName(all, jobName) ?? findByNumber(all, jobName));
  if (named.length > 0) return pick(reading, file, { candidates: named, matrix, asked: jobName });
  if (file.jobs.size === 0 && reading.report.hasErrors) return undefined;
  const names = [...new Set([...file.jobs.keys(), ...shownNames(all)])];
  const near = nearest(jobName ?? "", names);
  reading.report.error(file.root.entries.get("jobs")?.key, {
    code: "missing-job",
    message: jobName === undefined ? "The workflow has no job" : `The workflow has no job ${quote(jobName)}`,
    hint: `${near === undefined ? "" : `Did you mean "${near}"? `}${list(names)}`,
  });
  return undefined;
}

function onlyJob(file: WorkflowFile): JobEntry | undefined {
  const [first, second] = file.jobs.values();
  return second === undefined ? first : undefined;
}

function findById(file: WorkflowFile, name: string): JobEntry | undefined {
  const exact = file.jobs.get(name);
  return exact ?? [...file.jobs.values()].find(({ id }) => id.toLowerCase() === name.trim().toLowerCase());
}

function findByName(instances: readonly JobInstance[], name: string): readonly JobInstance[] | undefined {
  const same: readonly ((text: string) => string)[] = [
    (text) => text,
    (text) => text.trim(),
    (text) => text.trim().toLowerCase(),
  ];
  const tests = same.flatMap((of): ((instance: JobInstance) => boolean)[] => [
    (instance) => of(instance.name) === of(name),
    (instance) => of(instance.plainName) === of(name),
  ]);
  return tests.map((test) => instances.filter(test)).find((found) => found.length > 0);
}

// `test #2`: the second of those that are called so, in GitHub's order.
function findByNumber(instances: readonly JobInstance[], name: string): readonly JobInstance[] {
  const [, called = "", number = ""] = /^(.*\S)\s*#([1-9]\d{0,3})$/s.exec(name.trim()) ?? [];
  const ofJob = instances.filter(({ jobId }) => jobId.toLowerCase() === called.toLowerCase());
  const candidates = ofJob.length > 0 ? ofJob : (findByName(instances, called) ?? []);
  return candidates.slice(Number(number) - 1, Number(number));
}

function pick(
  reading: Reading,
  file: WorkflowFile,
  {
    candidates,
    matrix,
    asked,
  }: {
    readonly candidates: readonly JobInstance[];
    readonly matrix: Readonly<Record<string, string>>;
    readonly asked: string | undefined;
  },
): ChosenJob | undefined {
  const found = candidates.filter((instance) => hasMatrix(instance, matrix));
  const [instance, second] = found;
  const job = instance === undefined ? undefined : file.jobs.get(instance.jobId);
  if (instance !== undefined && job !== undefined && second === undefined) return { job, instance };
  const at = file.jobs.get(candidates[0]?.jobId ?? "")?.key ?? file.root;
  const what = asked === undefined ? "The workflow" : `The job ${quote(asked)}`;
  if (instance === undefined) {
    const given = Object.entries(matrix).map(([name, value]) => `${name}=${value}`);
    const message = `${what} has no instance with ${quote(given.join(", "))}`;
    reading.report.error(at, { code: "missing-job", message, hint: list(shownNames(candidates)) });
    return undefined;
  }
  const message = asked === undefined ? "The workflow has several jobs" : `${what} has several instances`;
  reading.report.error(at, { code: "ambiguous-job", message, hint: list(shownNames(found)) });
  return undefined;
}

function hasMatrix({ matrix }: JobInstance, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([name, text]) => {
    const key = Object.keys(matrix ?? {}).find((one) => one.toLowerCase() === name.toLowerCase());
    return key !== undefined && toText(matrix?.[key] ?? null) === text;
  });
}

/** A name for each that means no other. All instances of their jobs, in GitHub's order. */
export function shownNames(instances: readonly JobInstance[]): readonly string[] {
  const [names, plainNames] = [new Map<string, number>(), new Map<string, number>()];
  const [counts, ordinals] = [new Map<string, number>(), new Map<string, number>()];
  for (const { jobId, name, plainName } of instances) {
    counts.set(jobId, (counts.get(jobId) ?? 0) + 1);
    names.set(name.trim(), (names.get(name.trim()) ?? 0) + 1);
    plainNames.set(plainName.trim(), (plainNames.get(plainName.trim()) ?? 0) + 1);
  }
  return instances.map(({ jobId, name, plainName }) => {
    const ordinal = (ordinals.get(jobId) ?? 0) + 1;
    ordinals.set(jobId, ordinal);
    // A name equal to that of the job could be taken for all of its instances.
    const isOwn = (text: string): boolean =>
      text.trim().toLowerCase() !== jobId.toLowerCase() || counts.get(jobId) === 1;
    if (names.get(name.trim()) === 1 && isOwn(name)) return name;
    return plainNames.get(plainName.trim()) === 1 && isOwn(plainName) ? plainName : `${jobId} #${ordinal}`;
  });
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).map(quote).join(", ");
  const left = names.length - MAX_LISTED;
  return `There ${names.length === 1 ? "is" : "are"} ${shown}${left > 0 ? ` and ${left} more` : ""}.`;
}
