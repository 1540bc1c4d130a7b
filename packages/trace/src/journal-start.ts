import type { JournalRunStarted, RedactedJob, Vals } from "./journal-event.ts";
import type { SpecDefinitionJson } from "@steps/proto";

/** The first line of a journal, whose format has names of its own for some fields of a job. */
export interface StoredStart extends Omit<JournalRunStarted, "job"> {
  readonly request: StoredRequest;
}

interface StoredRequest extends Omit<RedactedJob, "specDefinition" | "grants" | "name"> {
  readonly definition: SpecDefinitionJson;
  readonly secrets?: Vals;
  readonly jobName?: string;
}

/** Returns the first event of a run as a journal stores it. The order of the members is part of the format. */
export function encodeStart({ job, runner, runtime, ...event }: JournalRunStarted): StoredStart {
  const { entry, specDefinition, inputs, env, grants, mode, name, source, workDir, baseDir, ...rest } = job;
  const request = {
    entry,
    definition: specDefinition,
    inputs,
    env,
    secrets: grants,
    mode,
    jobName: name,
    source,
    workDir,
    baseDir,
    ...rest,
  };
  return { ...event, request, runner, runtime };
}

/** Returns the event that `encodeStart()` was given. */
export function decodeStart({ request, ...event }: StoredStart): JournalRunStarted {
  const { definition, secrets, jobName, ...rest } = request;
  return { ...event, job: { ...rest, specDefinition: definition, grants: secrets, name: jobName } };
}
