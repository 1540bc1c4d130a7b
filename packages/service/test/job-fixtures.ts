import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { compileStepList } from "@steps/compiler";
import type { SpecDefinition } from "@steps/model/definition";
import { sha256 } from "@steps/platform";
import type { JobTableOptions } from "../src/jobs/open-job-table.ts";
import type { JobSubmission, SubmittedJob } from "../src/job-submission.ts";

export function tableOptions(dir: string): JobTableOptions {
  return {
    stateDir: join(dir, "state"),
    cacheDir: join(dir, "cache"),
    runner: { name: "test", version: "1" },
    env: { PATH: process.env["PATH"], HOME: dir },
    graceMs: 200,
  };
}

function compile(steps: unknown): SpecDefinition {
  const { specDefinition, diagnostics } = compileStepList({ name: "steps.yml", text: JSON.stringify(steps) });
  if (specDefinition === undefined) throw new Error(JSON.stringify(diagnostics));
  return specDefinition;
}

/** The fields that a test wants otherwise than most do. */
type Changes = Partial<Omit<JobSubmission, "job">> & { readonly job?: Partial<SubmittedJob> };

/** A job of one script. */
export function scriptJob(dir: string, script: string, changes: Changes = {}): JobSubmission {
  return stepsJob(dir, [{ name: "only", script }], changes);
}

export function stepsJob(dir: string, steps: unknown, given: Changes = {}): JobSubmission {
  const { job, ...changes } = given;
  return {
    id: randomUUID(),
    requestDigest: sha256(JSON.stringify(steps)),
    refusesOtherRequest: true,
    job: {
      source: "steps.yml",
      specDefinition: compile(steps),
      inputs: {},
      env: {},
      workDir: join(dir, "work"),
      ...job,
    },
    variables: [],
    ...changes,
  };
}

export const never: AbortSignal = new AbortController().signal;
