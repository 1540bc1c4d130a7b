import { createObject, type Job, type RunMode, type Value } from "@steps/model";
import { decodeSpecDefinition } from "@steps/model/baseline";
import type { SpecDefinition } from "@steps/model/definition";
import type { Resource } from "@steps/model/event";
import { publicUrl } from "@steps/model/reference";
import { formatValue } from "@steps/model/value";
import { recordedKindOf } from "@steps/model/kinds";
import type { Redacted_ReasonJson, Request_ModeJson, TraceJson, ValJson } from "@steps/proto";
import { TraceError } from "./error.ts";
import { decodeResource } from "./resource-index.ts";
import { storeToken } from "./tokenise.ts";

/** The components of a recorded run: what a replay must use, whatever a branch or a URL holds by now. */
export interface Pins {
  /**
   * The component that a reference to this location and version stood for. For a zip the version is the expected
   * SHA-256, or empty when the author gave none; other kinds without versions have an empty one.
   */
  find(kind: Resource["kind"], uri: string, requestedVersion: string): Resource | undefined;
}

/** The pins of a trace. Credentials in a location do not matter. */
export function pinsOf(trace: TraceJson): Pins {
  const pins = new Map<string, Resource>();
  for (const json of trace.resources ?? []) {
    const resource = decodeResource(json);
    const versions = recordedKindOf(resource)?.recordedVersions?.(resource) ?? [resource.requestedVersion];
    const keys = versions.map((version) => keyOf(resource.kind, resource.uri, version));
    // The component that the run met first is the one that it used.
    for (const key of keys) if (!pins.has(key)) pins.set(key, resource);
  }
  return { find: (kind, uri, requestedVersion) => pins.get(keyOf(kind, uri, requestedVersion)) };
}

function keyOf(kind: string, uri: string, version: string): string {
  return JSON.stringify([kind, publicUrl(uri), version]);
}

/** The job of a recorded run. */
export interface RecordedJob {
  /**
   * The job without its directories and without the values in `missing`; every grant is among those. Its `vars` are those
   * that were read, its `offeredEnv` those that steps inherited.
   */
  readonly job: Omit<Job, "grants" | "workDir" | "baseDir">;
  /** The directory in which its processes started: absolute, or empty when the trace does not name it. */
  readonly workDir: string;
  /** The base directory: relative to `workDir` when it was below it, otherwise absolute. */
  readonly baseDir: string;
  /** The folder of the project that `workDir` lay in a copy of: absolute. Absent for a job that ran in the project itself. */
  readonly projectDir: string | undefined;
  /**
   * The JSON Pointers into the encoded `specDefinition`, to the texts that a secret was taken out of. With any, the
   * definition is not what ran: it must not be run, and no secret that is given again can mend it.
   */
  readonly redactedTexts: readonly string[];
  /** The values that the trace does not hold, because they were secret or too large. They must be supplied again. */
  readonly missing: readonly MissingValue[];
}

/** A value that the trace does not hold, so that a replay has to ask for it. */
export interface MissingValue {
  readonly kind: "input" | "variable" | "env" | "secret" | "inherited";
  readonly name: string;
  /**
   * `sensitive`: it was marked. `masked_value`: it was or held a known secret without being marked. `too_large`: it is no
   * secret.
   */
  readonly reason: Redacted_ReasonJson;
}

/**
 * Returns the job of a trace, to run it again.
 *
 * @throws {TraceError} TRACE_INVALID when the trace does not say what was asked for
 */
export function jobOf(trace: TraceJson): RecordedJob {
  const { request } = trace;
  if (!request?.definition) throw new TraceError("TRACE_INVALID", "Cannot replay trace: it does not say what was run");
  const missing: MissingValue[] = [];
  const present = <T>(
    kind: MissingValue["kind"],
    vals: Readonly<Record<string, ValJson>> | undefined,
    map: (value: Value) => T,
  ): Record<string, T> => {
    const values = createObject<T>();
    for (const [name, val] of Object.entries(vals ?? {})) {
      if (val.redacted) missing.push({ kind, name, reason: val.redacted.reason ?? "reason_unspecified" });
      else values[name] = map(val.value ?? null);
    }
    return values;
  };
  let specDefinition: SpecDefinition;
  try {
    specDefinition = decodeSpecDefinition(request.definition);
  } catch (cause) {
    throw new TraceError("TRACE_INVALID", "Cannot replay trace: its definition is malformed", { cause });
  }
  const { jobName, source = "", workDir = "", baseDir = "", projectDir, redactedTexts = [] } = request;
  const includedFiles = request.includedFiles?.map(({ name: file = "", digest = {} }) => ({ name: file, digest }));
  const inputs = present("input", request.inputs, (value) => value);
  const vars = present("variable", request.vars, formatValue);
  const env = present("env", request.env, formatValue);
  present("secret", request.secrets, formatValue);
  const offeredEnv = present("inherited", request.inheritedEnv, formatValue);
  const name = jobName === "" ? undefined : jobName;
  const mode = decodeMode(request.mode ?? {});
  const job = {
    entry: "replay",
    name,
    source,
    includedFiles,
    specDefinition,
    inputs,
    vars,
    env,
    offeredEnv,
    mode,
    stores: storesOf(trace),
  } as const;
  return { job, workDir, baseDir, projectDir, redactedTexts, missing };
}

// The name of a store stands in the place of its path wherever the run recorded it.
function storesOf({ root }: TraceJson): string[] | undefined {
  const inputs = Object.entries(root?.det?.inputs ?? {});
  const stores = inputs.flatMap(([name, { value }]) => (value === storeToken(name) ? [name] : []));
  return stores.length === 0 ? undefined : stores;
}

function decodeMode({ compat, strictMoa, strictVars, warnSensitive }: Request_ModeJson): RunMode {
  return {
    ...(compat === "2025" || compat === "blueprint" || compat === "auto" ? { compat } : {}),
    ...(strictMoa === true ? { isStrictMoa: true } : {}),
    ...(strictVars === true ? { isStrictVars: true } : {}),
    ...(warnSensitive === true ? { warnsOfSensitive: true } : {}),
  };
}
