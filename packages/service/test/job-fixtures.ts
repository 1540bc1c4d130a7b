import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { compileStepList } from "@steps/compiler";
import { sha256, type SpecDefinition } from "@steps/model";
import type { JobTableOptions } from "../src/jobs/open-job-table.ts";
import type { JobSpec } from "../src/job-spec.ts";

export function tableOptions(dir: string): JobTableOptions {
  return {
    stateDir: join(dir, "state"),
    cacheDir: join(dir, "cache"),
    runner: { name: "test", version: "1" },
    env: { PATH: process.env["PATH"], HOME: dir },
    graceMs: 200,
  };
}

export function compile(steps: unknown): SpecDefinition {
  const { specDefinition, diagnostics } = compileStepList({ name: "steps.yml", text: JSON.stringify(steps) });
  if (specDefinition === undefined) throw new Error(JSON.stringify(diagnostics));
  return specDefinition;
}

/** A job of one script. */
export function scriptJob(dir: string, script: string, changes: Partial<JobSpec> = {}): JobSpec {
  return stepsJob(dir, [{ name: "only", script }], changes);
}

export function stepsJob(dir: string, steps: unknown, changes: Partial<JobSpec> = {}): JobSpec {
  return {
    id: randomUUID(),
    requestDigest: sha256(JSON.stringify(steps)),
    isStrict: true,
    source: "steps.yml",
    specDefinition: compile(steps),
    inputs: {},
    variables: [],
    env: {},
    secrets: [],
    workDir: join(dir, "work"),
    ...changes,
  };
}

export const never: AbortSignal = new AbortController().signal;
