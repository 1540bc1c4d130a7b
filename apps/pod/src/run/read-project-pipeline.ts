import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type GivenSituation, loadCiSource, readLocalSituation } from "@steps/ci-project";
import { UsageError } from "@steps/console";
import { complain, errors } from "@steps/console/terminal";
import { createEngine } from "@steps/engine";
import { compileJob } from "@steps/gitlab-ci";
import { type LoadedPipeline, sortDiagnostics } from "@steps/gitlab-ci/load";
import { type PlannedPipeline, planPipeline } from "@steps/gitlab-ci/pipeline";
import { type ServerJobRequest, serverPipeline } from "@steps/gitlab-ci/server";
import { plainVariables, predefinedVariables, type Variable } from "@steps/gitlab-ci/variables";
import { type Diagnostic, formatDiagnostic, hasErrors } from "@steps/model/diagnostic";
import { sha256 } from "@steps/platform";
import type { PipelineRequest } from "@steps/pods";
import { VERSION } from "../version.ts";
import { type GitFacts, readGitInfo } from "./git-info.ts";

/** The user's settings for a pipeline. */
export interface RunOptions {
  readonly project?: string | undefined;
  readonly protected: boolean;
  readonly variable: Readonly<Record<string, string>>;
  readonly ref?: string | undefined;
  readonly tag?: string | undefined;
  readonly start: readonly string[];
  readonly repository?: string | undefined;
}

/** The path of a pipeline's file: the one that was named, or `.gitlab-ci.yml` of the folder. @throws {UsageError} */
export function ciFileOf(path: string): string {
  const isFolder = existsSync(path) && statSync(path).isDirectory();
  const file = isFolder ? join(path, ".gitlab-ci.yml") : path;
  if (!existsSync(file))
    throw new UsageError(`There is no "${file}"`, "Name a CI file, a folder with one, or a repository.");
  return file;
}

/**
 * Reads the pipeline of a CI file as a pod takes it, and shows what is wrong with it. `undefined`: it cannot be run.
 *
 * @throws {UsageError}
 */
export async function readProjectPipeline(
  path: string,
  options: RunOptions,
  signal: AbortSignal,
): Promise<PipelineRequest | undefined> {
  const workDir = resolve(dirname(path));
  const given = new Map<string, Variable>(
    Object.entries(options.variable).map(([name, value]) => [name, { value, isRaw: false }]),
  );
  const configPath = relative(workDir, resolve(path));
  const situation = await readLocalSituation(options, { workDir, configPath });
  const local: GivenSituation = { ...situation, given, overrides: options.variable };
  const { pipeline: loaded, diagnostics } = await loadCiSource(
    {},
    { name: path, text: readFileSync(path, "utf8") },
    {
      place: { workDir, local, predefined: { CI: "true", GITLAB_CI: "true" } },
      tools: {
        readSituation: () => Promise.resolve(local),
        openEngine: () => createEngine({ runner: { name: "pod", version: VERSION } }),
        signal,
      },
    },
  );
  if (loaded === undefined) return show(diagnostics);
  const planned = await plan(loaded, local, options);
  const git = await readGitInfo(workDir, local, { repository: options.repository, isProtected: options.protected });
  const served = await serverPipeline(loaded, planned, {
    gitInfo: git.info,
    digestOfFiles: git.digestOf,
    timeoutSeconds: 3600,
  });
  const found = [...diagnostics, ...planned.diagnostics, ...problemsOf(loaded, planned), ...served.diagnostics];
  show(sortDiagnostics(found, loaded.sources));
  if (planned.judged === undefined || hasErrors(found)) return undefined;
  if (served.jobs.length === 0) {
    const { workflow } = planned.judged;
    complain(workflow?.isIn === false ? `No pipeline runs: ${workflow.reason}` : "No job is in the pipeline");
    return undefined;
  }
  if (git.isDirty) complain("Changes that are not committed are not in the jobs: runners fetch the commit");
  return {
    project: projectOf(workDir, options, local),
    name: planned.name,
    ref: local.pipeline.run.ref,
    sha: local.pipeline.commit?.sha,
    protected: options.protected,
    stages: served.stages,
    jobs: served.jobs.map((job) => withSources(job, git)) as unknown as PipelineRequest["jobs"],
  };
}

async function plan(
  loaded: LoadedPipeline,
  { situation, pipeline, given }: GivenSituation,
  { start }: RunOptions,
): Promise<PlannedPipeline> {
  const started = new Set(start);
  for (const name of started) {
    if (!loaded.jobs.has(name) && !loaded.groups.has(name)) throw new UsageError(`There is no job "${name}" to start`);
  }
  const settings = plainVariables({ CI: "true", GITLAB_CI: "true" });
  return await planPipeline(loaded, {
    situation,
    sources: (job) => {
      const known = predefinedVariables({ pipeline, job, sha256 });
      return { ...known, predefined: new Map([...settings, ...known.predefined]), pipeline: given };
    },
    isStarted: ({ name, groupName }) => started.has(name) || started.has(groupName),
  });
}

// Mistakes in jobs are found before any of them is handed out; the instances of a job share them.
function problemsOf(loaded: LoadedPipeline, { judged, jobs }: PlannedPipeline): readonly Diagnostic[] {
  const isIn = new Set(jobs.map(({ id }) => id));
  const asked = new Set<string>();
  return [...(judged?.jobs.values() ?? [])].flatMap(({ job, sources }) => {
    if (!isIn.has(job.name) || job.own.has("trigger") || asked.has(job.groupName)) return [];
    asked.add(job.groupName);
    return compileJob(loaded, { jobName: job.name, sources }).diagnostics;
  });
}

/** The job with the place of its sources, or with the word that there are none. */
function withSources(job: ServerJobRequest, { url }: GitFacts): ServerJobRequest {
  const [key, value] = url === undefined ? ["GIT_STRATEGY", "none"] : ["CI_REPOSITORY_URL", url];
  const variable = { key, value, public: false, masked: false, file: false, raw: true };
  return { ...job, payload: { ...job.payload, variables: [...job.payload.variables, variable] } };
}

function projectOf(workDir: string, { project }: RunOptions, { situation }: GivenSituation): string {
  if (project !== undefined) return project;
  const name = basename(workDir)
    .replaceAll(/[^\p{L}\p{N}_-]+/gu, "-")
    .replace(/^-+/, "");
  return situation.projectPath ?? `local/${name === "" ? "project" : name}`;
}

function show(diagnostics: readonly Diagnostic[]): undefined {
  const shown = diagnostics.filter(({ severity }) => severity !== "note");
  if (shown.length > 0) void errors.writeLines(`${shown.map(formatDiagnostic).join("\n")}\n`);
}
