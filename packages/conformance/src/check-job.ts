import { compileJob } from "@steps/gitlab-ci";
import { loadPipeline, type LoadPipelineOptions } from "@steps/gitlab-ci/load";
import { assertDiagnostics } from "./check-compile.ts";
import { checkRun } from "./check-run.ts";
import { type Case, checkKeys, isRecord } from "./read-cases.ts";

/** Checks a case of kind `job`: a CI file and a job of it; its diagnostics, then what running it gives. */
export async function checkJob({ id, data }: Case): Promise<void> {
  checkKeys(data, ["file", "files", "job", "expect"], "job");
  const { file, files = {}, job, expect } = data;
  if (typeof file !== "string" || typeof job !== "string" || !isRecord(files) || !isRecord(expect)) {
    throw new Error("A job case has file, job and expect");
  }
  checkKeys(expect, ["exit", "stdout", "stdoutContains", "diagnostics"], "expect");
  const { diagnostics, ...rest } = expect;
  if (diagnostics !== undefined) {
    const loaded = await loadPipeline({ name: ".gitlab-ci.yml", text: file }, loadingOf(files));
    const ofJob = loaded.pipeline && compileJob(loaded.pipeline, { jobName: job }).diagnostics;
    assertDiagnostics([...loaded.diagnostics, ...(ofJob ?? [])], diagnostics);
  }
  if (Object.keys(rest).length === 0) return;
  // When a shell fails at a line, the exit code is the shell's own, so any number is accepted by default.
  const expected = { exit: "$number", ...rest };
  const command = ["local", ".gitlab-ci.yml", "--job-name", job];
  await checkRun({ id, kind: "run", data: { files: { ...files, ".gitlab-ci.yml": file }, command, expect: expected } });
}

function loadingOf(files: Readonly<Record<string, unknown>>): LoadPipelineOptions {
  return {
    loadFile: (request) => {
      const text = request.kind === "local" ? files[request.path] : undefined;
      if (request.kind !== "local" || typeof text !== "string") return { problem: "The case has no such file" };
      return { source: { name: request.path, text }, context: request.context };
    },
    listFiles: () => Object.keys(files),
  };
}
