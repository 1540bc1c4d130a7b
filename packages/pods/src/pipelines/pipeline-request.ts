import { findCircles } from "@steps/pipeline";
import { StepsError } from "@steps/model";
import { PATH_PATTERN } from "../projects/ensure-project.ts";

/** A job of a new pipeline. */
export interface JobRequest {
  /** Unique in the pipeline. */
  readonly name: string;
  readonly stage: string;
  /** The names of the jobs that it waits for. Absent: all jobs of earlier stages. */
  readonly needs?: readonly string[] | undefined;
  /** The names of the jobs whose artifacts and `dotenv` variables it gets. Absent: those of all jobs that it waits for. */
  readonly dependencies?: readonly string[] | undefined;
  /** The part of a runner's payload that the pod does not make itself: `git_info`, `variables`, `steps`, `image`, `run`, … */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly tags?: readonly string[] | undefined;
  /** Default: `on_success`. */
  readonly when?: "on_success" | "on_failure" | "always" | "manual" | "delayed" | undefined;
  /** Seconds that a delayed job waits once its turn has come. */
  readonly start_in?: number | undefined;
  /** Whether its failure counts; or the exit codes with which it does not. Default: it counts. */
  readonly allow_failure?: boolean | { readonly exit_codes: readonly number[] } | undefined;
  /** How often it is tried again, and after which reasons for its failure. Default: never. */
  readonly retry?: { readonly max: number; readonly when?: readonly string[] | undefined } | undefined;
  /** Seconds. Default: 3600. */
  readonly timeout?: number | undefined;
  /** The job of a protected ref: runners that take no others may take it. Default: that of the pipeline. */
  readonly protected?: boolean | undefined;
  /** The names of the features that the runner must have. Default: none. */
  readonly features?: readonly string[] | undefined;
}

/** A new pipeline. */
export interface PipelineRequest {
  /** The path of its project, which is made if there is none: `group/project`. */
  readonly project: string;
  readonly name?: string | undefined;
  readonly ref?: string | undefined;
  readonly sha?: string | undefined;
  readonly protected?: boolean | undefined;
  /** The names of the stages, in their order. */
  readonly stages: readonly string[];
  readonly jobs: readonly JobRequest[];
}

/** Why there is no such pipeline. */
export class PipelineRequestError extends StepsError<"PIPELINE_INVALID"> {
  constructor(message: string) {
    super("PIPELINE_INVALID", message);
  }
}

const MAX_JOBS = 10_000;
const MAX_NAME = 255;
/** Tags and features are in an index, and PostgreSQL has rows of 2704 bytes in one. They are looked at before the job's turn has come. */
const MAX_MARKS = 2_400;
const MAX_TIMEOUT = 31 * 86_400;
const WHEN = ["on_success", "on_failure", "always", "manual", "delayed"];

/**
 * Checks a request that came from outside.
 *
 * @throws {PipelineRequestError} with the first thing that is wrong
 */
export function checkPipeline(value: unknown): PipelineRequest {
  const request = objectOf(value, "The pipeline") as unknown as PipelineRequest;
  check(typeof request.project === "string" && PATH_PATTERN.test(request.project), "project: a path like group/name");
  for (const key of ["name", "ref", "sha"] as const)
    check(request[key] === undefined || isText(request[key]), `${key}: a text`);
  check(isTexts(request.stages), "stages: a list of names");
  check(Array.isArray(request.jobs) && request.jobs.length <= MAX_JOBS, `jobs: a list of at most ${MAX_JOBS}`);
  check(request.jobs.length > 0, "jobs: at least one");
  const names = new Set<string>();
  for (const job of request.jobs as readonly unknown[]) {
    const { name } = checkJob(job, request.stages);
    check(!names.has(name), `jobs: there are two jobs "${name}"`);
    names.add(name);
  }
  checkOrder(request, names);
  return request;
}

function checkJob(value: unknown, stages: readonly string[]): JobRequest {
  const job = objectOf(value, "A job") as unknown as JobRequest;
  check(isText(job.name) && job.name !== "", "jobs: each has a name");
  const at = `job "${job.name}"`;
  check(stages.includes(job.stage), `${at}: its stage is not one of stages`);
  objectOf(job.payload, `${at}: payload`);
  for (const key of ["needs", "dependencies", "tags", "features"] as const)
    check(job[key] === undefined || isTexts(job[key]), `${at}: ${key} is a list of names`);
  check(
    sizeOf([...(job.tags ?? []), ...(job.features ?? [])]) <= MAX_MARKS,
    `${at}: tags and features have too many letters together`,
  );
  check(job.when === undefined || WHEN.includes(job.when), `${at}: when is one of ${WHEN.join(", ")}`);
  check(isCount(job.start_in ?? 0, MAX_TIMEOUT), `${at}: start_in is a number of seconds`);
  check(
    isCount(job.timeout ?? 1, MAX_TIMEOUT) && job.timeout !== 0,
    `${at}: timeout is a number of seconds, at most a month`,
  );
  const { allow_failure: mayFail = false, retry } = job;
  const codes = typeof mayFail === "boolean" ? [] : objectOf(mayFail, `${at}: allow_failure`)["exit_codes"];
  check(Array.isArray(codes) && codes.every(Number.isSafeInteger), `${at}: allow_failure is true, false or exit codes`);
  if (retry !== undefined) {
    check(isCount(objectOf(retry, `${at}: retry`)["max"], 2), `${at}: retry.max is 0, 1 or 2`);
    check(retry.when === undefined || isTexts(retry.when), `${at}: retry.when is a list of reasons`);
  }
  return job;
}

function checkOrder({ jobs, stages }: PipelineRequest, names: ReadonlySet<string>): void {
  for (const { name, needs = [], dependencies = [] } of jobs)
    for (const other of [...needs, ...dependencies])
      check(names.has(other), `job "${name}": there is no job "${other}" that it could need`);
  // Those without needs wait for the stages before theirs, so that a circle may lead through both.
  const waits = new Map<string, { needs: readonly string[] }>();
  for (const [index, stage] of stages.entries()) {
    const members = jobs.filter((job) => job.stage === stage);
    const before = index === 0 ? [] : [`stage ${index - 1}`];
    for (const { name, needs } of members)
      waits.set(`job ${name}`, { needs: needs?.map((need) => `job ${need}`) ?? before });
    waits.set(`stage ${index}`, { needs: [...before, ...members.map(({ name }) => `job ${name}`)] });
  }
  const [circle] = findCircles(waits);
  if (circle !== undefined) {
    const named = circle.filter((node) => node.startsWith("job ")).map((node) => `"${node.slice(4)}"`);
    throw new PipelineRequestError(`jobs: they wait for each other: ${named.join(", ")}`);
  }
}

function check(isRight: boolean, problem: string): void {
  if (!isRight) throw new PipelineRequestError(problem);
}

function objectOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  check(typeof value === "object" && value !== null && !Array.isArray(value), `${what}: an object`);
  return value as Readonly<Record<string, unknown>>;
}

// The database takes no zero character.
function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_NAME && !value.includes("\0");
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length <= MAX_JOBS && value.every(isText);
}

// As a list is kept: each text with its length and up to three bytes behind it.
function sizeOf(texts: readonly string[]): number {
  return texts.reduce((size, text) => size + Buffer.byteLength(text) + 7, 0);
}

function isCount(value: unknown, max: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max;
}
