import { UsageError } from "@steps/console";
import { complain } from "@steps/console/terminal";
import { compileJob, ignoredKeywords, unknownNamesOf } from "@steps/gitlab-ci";
import {
  type ForeignNeed,
  type JudgedPipeline,
  type PlannedPipeline,
  planPipeline,
  readForeignNeeds,
} from "@steps/gitlab-ci/pipeline";
import { type LoadedPipeline, sortDiagnostics } from "@steps/gitlab-ci/load";
import { type Diagnostic, hasErrors } from "@steps/model/diagnostic";
import { callProblems } from "../../input/call-problems.ts";
import { showDiagnostics } from "../../input/diagnose.ts";
import { loadCiFile } from "../../input/load-ci-file.ts";
import { explainSituation, situationOf } from "../../input/read-given-situation.ts";
import { tellIgnored } from "../../input/tell-ignored.ts";
import { chooseJobs, idsOf } from "../choose-jobs.ts";
import type { LocalPipeline } from "../local-pipeline.ts";
import type { PipelineOptions } from "../pipeline-flags.ts";
import { type CiPipeline, withName } from "./ci-pipeline.ts";
import { tellForeignNeeds } from "./foreign-artifacts.ts";
import { graphOf } from "./graph-of.ts";
import { listCiJobs } from "./list-ci-jobs.ts";
import { runCiPipeline } from "./run-ci-jobs.ts";

/** Reads the pipeline of a CI file, and shows what is wrong with it. `undefined`: it cannot be run. @throws {UsageError} */
export async function readCiPipeline(options: PipelineOptions, path: string): Promise<LocalPipeline | undefined> {
  const file = await loadCiFile(options, path);
  if (file === undefined) return undefined;
  const { pipeline: loaded, workDir } = file;
  const { situation, pipeline: facts, given, originUrl, sourcesOf } = await situationOf(options, file, path);
  const started = new Set([...options.start, ...options.only]);
  if (started.size > 0) idsOf("job", [...started], namesOf(loaded));
  const planned = await planPipeline(loaded, {
    situation,
    sources: sourcesOf,
    hasDelays: options.delay,
    isStarted: ({ name, groupName }) => started.has(name) || started.has(groupName),
  }).catch(explainSituation);
  const { judged } = planned;
  const jobs = chooseJobs(planned.jobs, chosenIds(options, loaded, planned));
  const isShownOnly = options.list || options.graph !== undefined;
  const problems =
    judged === undefined || isShownOnly ? [] : await problemsOf(loaded, { planned, judged, jobs, workDir });
  const found = [...file.diagnostics, ...planned.diagnostics, ...problems];
  showDiagnostics(options, sortDiagnostics(found, loaded.sources));
  if (judged === undefined || hasErrors(found)) return undefined;
  const named = withName(facts, planned.name);
  const own = { facts: named, given, originUrl, file: path, path: "", depth: 0 };
  const ci: CiPipeline = { loaded, planned, situation, ...own };
  return {
    language: "gitlab-ci",
    sources: loaded.sources,
    maskedValues: maskedIn(options, judged),
    name: planned.name,
    graph: graphOf(jobs, loaded),
    list: () => Promise.resolve(listCiJobs(loaded, judged, planned.jobs)),
    run: (context) => {
      if (jobs.length === 0)
        complain(
          judged.workflow?.isIn === false ? `No pipeline runs: ${judged.workflow.reason}` : "No job is in the pipeline",
          "--list tells why.",
        );
      if (!options.quiet) {
        tellIgnored(ignoredIn(loaded, jobs));
        tellForeignNeeds(options, foreignNeedsOf(judged, jobs));
      }
      return runCiPipeline(context, ci, jobs);
    },
  };
}

// The mistakes in jobs are found before any of them runs; the instances of a job share them.
async function problemsOf(
  loaded: LoadedPipeline,
  { planned, judged, jobs, workDir }: ChosenJobs,
): Promise<readonly Diagnostic[]> {
  const isIn = new Set(jobs.map(({ id }) => id));
  const asked = new Set<string>();
  const found = [...judged.jobs.values()].map(async ({ job, sources, decision }) => {
    if (!isIn.has(job.name) || job.own.has("trigger") || asked.has(job.groupName)) return [];
    asked.add(job.groupName);
    const unknownNames = unknownNamesOf(decision);
    const compiled = compileJob(loaded, { jobName: job.name, sources, unknownNames });
    if (compiled.job === undefined || !job.own.has("run")) return compiled.diagnostics;
    // The artifacts of another job may hold other steps than the project has now.
    const own = planned.jobNamed(job.name);
    const severity = own !== undefined && planned.artifactsOf(own).length === 0 ? unknownNames : "warning";
    return [...compiled.diagnostics, ...(await callProblems(compiled.job, { dirs: [workDir], severity }))];
  });
  return (await Promise.all(found)).flat();
}

/** The jobs of a pipeline that are going to run, and the folder of its project. */
interface ChosenJobs {
  readonly planned: PlannedPipeline;
  readonly judged: JudgedPipeline;
  readonly jobs: PlannedPipeline["jobs"];
  readonly workDir: string;
}

function foreignNeedsOf(judged: JudgedPipeline, jobs: PlannedPipeline["jobs"]): readonly ForeignNeed[] {
  return jobs.flatMap(({ id }) => readForeignNeeds(judged.jobs.get(id)?.decision.needs));
}

// The values that the files give to variables that the user wants to be masked: the name of an instance may hold one.
function maskedIn({ maskVariable }: PipelineOptions, { jobs }: JudgedPipeline): readonly string[] {
  if (maskVariable.length === 0) return [];
  const found = [...jobs.values()].flatMap(({ sources }) =>
    [sources.global, sources.workflow, sources.job, sources.matrix, sources.rule].flatMap((variables) =>
      maskVariable.flatMap((name) => variables?.get(name)?.value ?? []),
    ),
  );
  return [...new Set(found)];
}

function ignoredIn(loaded: LoadedPipeline, jobs: PlannedPipeline["jobs"]): readonly string[] {
  const members = jobs.map(({ id }) => loaded.jobs.get(id)).filter((job) => job !== undefined);
  return [...new Set(members.flatMap(ignoredKeywords))].toSorted();
}

function namesOf({ groups, jobs }: LoadedPipeline): ReadonlyMap<string, readonly string[]> {
  const instances = [...jobs.keys()].map((name): [string, readonly string[]] => [name, [name]]);
  const named = [...groups].map(([name, members]): [string, readonly string[]] => [
    name,
    members.map((job) => job.name),
  ]);
  return new Map([...instances, ...named]);
}

function chosenIds(
  { only, stage }: PipelineOptions,
  loaded: LoadedPipeline,
  { judged, jobs }: PlannedPipeline,
): ReadonlySet<string> | undefined {
  if (only.length === 0 && stage.length === 0) return undefined;
  const isIn = new Set(jobs.map(({ id }) => id));
  const named = idsOf("job", only, namesOf(loaded));
  for (const id of named) {
    const decision = judged?.jobs.get(id)?.decision;
    if (!isIn.has(id))
      throw new UsageError(
        `The job "${id}" is not in the pipeline`,
        `${judged?.workflow?.isIn === false ? judged.workflow.reason : decision?.reason}.`,
      );
  }
  const stages = new Map(loaded.stages.map((name): [string, string[]] => [name, []]));
  for (const job of loaded.jobs.values()) if (isIn.has(job.name)) stages.get(job.stage)?.push(job.name);
  return new Set([...named, ...idsOf("stage", stage, stages)]);
}
