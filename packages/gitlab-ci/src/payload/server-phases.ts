import type { Value } from "@steps/model";
import type { CompileContext } from "../compile/compile-context.ts";
import { keywordTemplate, literalTemplate, variableTemplate } from "../compile/job-text.ts";
import { libraryStep, type Phase } from "../compile/phase.ts";
import { sourcesPhase } from "../compile/sources-phase.ts";
import { controlOf, whenOf } from "../compile/when.ts";
import type { ServerArtifact, ServerDependency, ServerJob } from "./server-job.ts";

/** The server to which a job belongs. */
export interface JobServer {
  /** As `register` was given it, without `/api/v4`. */
  readonly url: string;
}

/** The secret by which the steps of a job talk to their server. */
export const TOKEN_SECRET = "job_token";

/** The secret with the token for the artifacts of another job. */
export function dependencySecret(id: number): string {
  return `dependency_token_${id}`;
}

/** The commit that the server names, in place of what the variables say. */
export function checkoutPhase(context: CompileContext, job: ServerJob): Phase | undefined {
  const phase = sourcesPhase(context, "empty");
  if (phase === undefined || phase.inputs?.["strategy"] === "empty") return phase && disposable(phase);
  const { sha, ref, refspecs, depth } = job.git_info;
  const { values } = context.variables;
  const isCloned =
    values["GIT_STRATEGY"] === "clone" || ((values["GIT_STRATEGY"] ?? "") === "" && !job.allow_git_fetch);
  const { depth: _, ...inputs } = phase.inputs ?? {};
  return disposable({
    ...phase,
    inputs: {
      ...inputs,
      ...(isCloned ? { strategy: "clone" } : {}),
      url: variableTemplate("CI_REPOSITORY_URL"),
      ...(sha === "" ? {} : { sha: literalTemplate(sha) }),
      ...(ref === "" ? {} : { ref: literalTemplate(ref) }),
      ...(refspecs.length === 0 ? {} : { refspecs: refspecs.map(literalTemplate) }),
      // The server has put GIT_DEPTH in there already.
      ...(depth === 0 ? {} : { depth }),
    },
  });
}

// The folder of a job is the runner's.
function disposable(phase: Phase): Phase {
  return { ...phase, inputs: { ...phase.inputs, disposable: true } };
}

/** Unpacks the artifacts of other jobs, which the server has. `undefined` for none. */
export function serverDownloadPhase(
  { job }: CompileContext,
  { url }: JobServer,
  dependencies: readonly ServerDependency[],
): Phase | undefined {
  // The server says so where there are none.
  const from = dependencies.filter(({ artifacts_file: file }) => file !== undefined);
  if (from.length === 0) return undefined;
  const tokens = from.map(({ id }) => [String(id), secretTemplate(dependencySecret(id))] as const);
  return {
    name: "download_artifacts",
    step: libraryStep("artifacts-download"),
    inputs: {
      server_url: literalTemplate(url),
      sources: from.map(({ id, name }): Value => ({ job: literalTemplate(name), id })),
      tokens: Object.fromEntries(tokens),
    },
    node: job.key,
  };
}

/** Uploads files of the job to its server. */
export function serverUploadPhases(context: CompileContext, server: JobServer, job: ServerJob): readonly Phase[] {
  const names = new Map<string, number>();
  return job.artifacts.flatMap((artifact) => {
    if (artifact.paths.length === 0 && !artifact.untracked) return [];
    const base = artifact.artifact_type === "archive" ? "upload_artifacts" : `upload_${artifact.artifact_type}`;
    const count = (names.get(base) ?? 0) + 1;
    names.set(base, count);
    const name = count === 1 ? base : `${base}_${count}`;
    return [{ ...uploadPhase(context, artifact, { url: server.url, job }), name }];
  });
}

function uploadPhase(
  { job: { key }, scope, variables }: CompileContext,
  artifact: ServerArtifact,
  { url, job }: { readonly url: string; readonly job: ServerJob },
): Omit<Phase, "name"> {
  const text = (keyword: string, value: string): string => keywordTemplate(keyword, value, scope);
  const level = variables.values["ARTIFACT_COMPRESSION_LEVEL"] ?? "";
  return {
    step: libraryStep("artifacts-upload"),
    inputs: {
      server_url: literalTemplate(url),
      job_id: job.id,
      token: secretTemplate(TOKEN_SECRET),
      job: literalTemplate(job.job_info.name),
      ...(artifact.name === "" ? {} : { name: text("artifacts:name", artifact.name) }),
      paths: artifact.paths.map((path) => text("artifacts:paths", path)),
      exclude: artifact.exclude.map((path) => text("artifacts:exclude", path)),
      ...(artifact.untracked ? { untracked: true } : {}),
      ...(artifact.expire_in === "" ? {} : { expire_in: literalTemplate(artifact.expire_in) }),
      type: literalTemplate(artifact.artifact_type),
      format: literalTemplate(artifact.artifact_format),
      ...(level === "" ? {} : { compression_level: variableTemplate("ARTIFACT_COMPRESSION_LEVEL") }),
    },
    control: controlOf(whenOf(artifact.when)),
    node: key,
  };
}

function secretTemplate(name: string): string {
  return `\${{ get(secrets, ${JSON.stringify(name)}) }}`;
}
