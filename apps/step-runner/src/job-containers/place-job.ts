import { dirname } from "node:path";
import type { ContainerCli } from "@steps/containers";
import type { RunOptions } from "@steps/engine";
import type { CiReport } from "@steps/gitlab-ci";
import {
  type ContainerValues,
  type JobImage,
  type JobService,
  readImage,
  readServices,
} from "@steps/gitlab-ci/containers";
import type { LoadedJob } from "@steps/gitlab-ci/load";
import type { ProjectFacts, RunnerFacts } from "@steps/gitlab-ci/variables";
import { type Diagnostic, quote } from "@steps/model/diagnostic";
import { Report } from "@steps/source";
import type { ExecutorOptions } from "./executor-flags.ts";

/** The place where a job runs. */
export type JobPlace =
  /** On this machine; `notes` say what is not honoured there. */
  | { readonly kind: "host"; readonly notes: NonNullable<RunOptions["notes"]> }
  | { readonly kind: "containers"; readonly containers: JobContainers }
  /** Nowhere, and why. */
  | { readonly kind: "refused"; readonly message: string };

/** The containers that a job runs in. */
export interface JobContainers {
  readonly cli: ContainerCli;
  readonly image: JobImage;
  readonly services: readonly JobService[];
  readonly isPrivileged: boolean;
  /** The path of the project in the containers: `CI_PROJECT_DIR`. */
  readonly projectDir: string;
}

/** The choice of a place, made before the variables of the job are known. */
export interface PlaceChoice {
  /** The folders of the job as it sees them, for its predefined variables. */
  readonly runner: RunnerFacts;
  /** The place by the variables of the job; `undefined` when its image or its services are wrong, which the diagnostics say. */
  readonly withVariables: (variables: Readonly<Record<string, string>>) => {
    readonly place: JobPlace | undefined;
    readonly diagnostics: readonly Diagnostic[];
  };
}

/** The facts by which a job gets its place. */
export interface PlacedProject {
  /** The folder that the job runs in on this machine: absolute. */
  readonly workDir: string;
  readonly project: ProjectFacts;
  /** The inputs that the job is given, as texts. Default: none. */
  readonly inputs?: Readonly<Record<string, string>> | undefined;
}

/** The folder of projects in containers, as GitLab's runner has it: `CI_BUILDS_DIR`. */
const BUILDS_DIR = "/builds";

/** Chooses where a job runs: by the flags, by whether it names an image, and by whether an engine answers. */
export async function placeJob(
  options: ExecutorOptions,
  job: LoadedJob,
  { workDir, project, inputs }: PlacedProject,
): Promise<PlaceChoice> {
  const { executor } = options;
  const hasImage = job.keywords.has("image");
  const here = { projectDir: workDir, buildsDir: dirname(workDir), isDisposable: false };
  const fixed = (place: JobPlace): PlaceChoice => ({
    runner: here,
    withVariables: () => ({ place, diagnostics: [] }),
  });
  if (executor === "host" || (executor === "auto" && !hasImage)) return fixed({ kind: "host", notes: notesOf(job) });
  if (!hasImage) {
    const message = `The job ${quote(job.name)} names no image to make a container of; --executor auto runs it on this machine`;
    return fixed({ kind: "refused", message });
  }
  // A job that runs here does without all of it.
  const { findEngine } = await import("./find-engine.ts");
  const engine = await findEngine();
  if (!("cli" in engine)) {
    const why = `The job ${quote(job.name)} names an image, and no container can be run: ${engine.message}`;
    const message = `${why}. ${engine.hint} --executor host runs the job on this machine, without its image.`;
    return fixed({ kind: "refused", message });
  }
  const projectDir = projectDirOf(project);
  return {
    runner: { projectDir, buildsDir: BUILDS_DIR, isDisposable: true },
    withVariables: (variables) => readPlace(job, { variables, inputs }, { ...options, cli: engine.cli, projectDir }),
  };
}

/** Gives what `compile` makes of a job that knows its image with variables filled in: `CI_JOB_IMAGE`. */
export function withImageName<
  T extends { readonly job: { readonly variables: Readonly<Record<string, string>> } | undefined },
>(job: LoadedJob, inputs: ContainerValues["inputs"], compile: (image: string | undefined) => T): T {
  const first = compile(undefined);
  if (first.job === undefined || !job.keywords.has("image")) return first;
  const unsaid: CiReport = new Report();
  const image = readImage(job, { variables: first.job.variables, inputs }, unsaid);
  return image === undefined ? first : compile(image.name);
}

function projectDirOf({ remote, folder }: ProjectFacts): string {
  const parts = (remote?.path ?? folder).split("/").filter((part) => part !== "" && part !== "." && part !== "..");
  return [BUILDS_DIR, ...(parts.length === 0 ? ["project"] : parts)].join("/");
}

function notesOf({ name, keywords }: LoadedJob): NonNullable<RunOptions["notes"]> {
  const ignored = ["image", "services"].filter((keyword) => keywords.has(keyword));
  return ignored.map((keyword) => ({
    level: "warning",
    code: `${keyword}-ignored`,
    message: `"${keyword}" of ${quote(name)} is ignored: the job runs on this machine, not in a container`,
  }));
}

function readPlace(
  job: LoadedJob,
  values: ContainerValues,
  options: Pick<ExecutorOptions, "pullPolicy" | "privileged"> & Pick<JobContainers, "cli" | "projectDir">,
): ReturnType<PlaceChoice["withVariables"]> {
  const report: CiReport = new Report();
  const image = readImage(job, values, report);
  const services = readServices(job, values, report);
  const diagnostics = report.finish();
  if (image === undefined || report.hasErrors) return { place: undefined, diagnostics };
  const withPolicy = <T extends JobImage>(one: T): T => {
    return one.pullPolicies.length > 0 ? one : { ...one, pullPolicies: [options.pullPolicy] };
  };
  const containers: JobContainers = {
    cli: options.cli,
    image: withPolicy(image),
    services: services.map(withPolicy),
    isPrivileged: options.privileged,
    projectDir: options.projectDir,
  };
  return { place: { kind: "containers", containers }, diagnostics };
}
