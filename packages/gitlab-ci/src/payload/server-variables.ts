import { createObject } from "@steps/model";
import { NAME_PATTERN } from "@steps/model/definition";
import { expandVariables, type RawVariable } from "../variables/expand-variables.ts";
import type { CiReport } from "../ci-rules.ts";
import type { ServerJob, ServerVariable } from "./server-job.ts";

/** A variable of a job as its service is given it. */
export interface JobValue {
  readonly value: string;
  /** A secret: masked wherever it turns up. */
  readonly isMasked: boolean;
  /** The value goes to a file, and the variable is its path. */
  readonly isFile: boolean;
}

/** Variables that a runner adds, which win over those of the payload. */
export type RunnerVariables = Readonly<Record<string, string>>;

/**
 * The variables of a job: of those with one name the last one, `$NAME` filled in unless it is raw. The contents of a variable
 * that is a file are in no other: a reference to it stays, for the shell to fill in.
 */
export function readServerVariables(
  job: Pick<ServerJob, "variables" | "git_info">,
  own: RunnerVariables,
  report: CiReport,
): Readonly<Record<string, JobValue>> {
  const last = new Map<string, ServerVariable>();
  const raw = new Map<string, RawVariable>();
  const all = [repositoryOf(job), ...job.variables, ...Object.entries(own).map(ofRunner)];
  for (const variable of all) {
    const { key, value, file, raw: isRaw } = variable;
    // A shell could not name it either.
    if (!NAME_PATTERN.test(key) || value.includes("\0")) continue;
    raw.set(key, file ? { value: `$${key}`, isRaw: true } : { value, isRaw, below: raw.get(key) });
    last.set(key, variable);
  }
  const { values, isTooLong } = expandVariables(raw);
  if (isTooLong) {
    report.error(undefined, {
      code: "invalid-variables",
      message: "The variables are too long once expanded",
    });
  }
  const read = createObject<JobValue>();
  for (const [key, { value, masked, file }] of last) {
    read[key] = { value: file ? value : (values[key] ?? ""), isMasked: masked, isFile: file };
  }
  return read;
}

// Its credentials are the job's token. That of the payload, if it has one, is the same.
function repositoryOf({ git_info: { repo_url: value } }: Pick<ServerJob, "git_info">): ServerVariable {
  return { key: "CI_REPOSITORY_URL", value, masked: /^\w+:\/\/[^/@]*@/.test(value), file: false, raw: true };
}

function ofRunner([key, value]: readonly [string, string]): ServerVariable {
  return { key, value, masked: false, file: false, raw: true };
}
