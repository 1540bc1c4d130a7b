import { digestOf } from "@steps/platform";
import type { FingerprintsJson, JobRecordJson, ValJson } from "@steps/proto";
import { stableVal } from "../fingerprint.ts";

/**
 * The fingerprints of a pipeline: over its jobs in order, with their needs, ends and outputs, and the fingerprints of the runs of
 * their instances. Of several attempts the last counts. Why a job was skipped counts as little as when it ran.
 */
export function fingerprintPipeline(jobs: readonly JobRecordJson[]): FingerprintsJson {
  return {
    core: digestOf(jobs.map((job) => describe(job, "core"))),
    full: digestOf(jobs.map((job) => describe(job, "full"))),
  };
}

function describe({ name, caller, needs = [], instances = [], ...end }: JobRecordJson, half: "core" | "full"): unknown {
  return {
    name: name ?? "",
    caller: caller ?? "",
    needs,
    ...describeEnd(end),
    instances: instances.map(({ name: instance, attempts = [], ...instanceEnd }) => ({
      name: instance ?? "",
      ...describeEnd(instanceEnd),
      run: attempts.at(-1)?.trace?.fingerprints?.[half] ?? "",
    })),
  };
}

interface End {
  readonly status?: string;
  readonly allowedFailure?: boolean;
  readonly outputs?: Readonly<Record<string, ValJson>>;
}

function describeEnd({ status = "", allowedFailure = false, outputs = {} }: End): Record<string, unknown> {
  const vals = Object.entries(outputs).map(([name, val]) => [name, stableVal(val)] as const);
  return { status, allowedFailure, outputs: Object.fromEntries(vals) };
}
