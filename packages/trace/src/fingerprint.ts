import { canonicalJson } from "@steps/model/value";
import { digestOf, sha256 } from "@steps/platform";
import type {
  DeterministicJson,
  FingerprintsJson,
  ResourceJson,
  RuntimeJson,
  StepRecordJson,
  ValJson,
} from "@steps/proto";

/** The data besides the step itself that a step's fingerprint is computed from. */
export interface FingerprintContext {
  readonly resources: readonly ResourceJson[];
  readonly runtime: RuntimeJson;
  /** Texts of values that do not change any more: most variables are the same object in every step. */
  readonly texts?: WeakMap<ValJson, string>;
}

/**
 * The fingerprints of one step: `core` over what must be equal in a replay, `full` over that, the logs, the tools and
 * the runtime. Resources count by their digests and redacted values by their reason, so the order of fetching and the
 * values of secrets do not affect the fingerprint.
 */
export function fingerprintStep(
  det: DeterministicJson,
  { resources, runtime, texts }: FingerprintContext,
): { readonly core: string; readonly full: string } {
  const core = digestOf({
    component: componentDigest(det.component === undefined ? undefined : resources[det.component]),
    subpath: det.subpath,
    definition: det.definitionDigest,
    type: det.type,
    inputs: digestOfVals(det.inputs, texts),
    env: digestOfVals(det.env, texts),
    command: det.command,
    workDir: det.workDir,
    status: det.status,
    exitCode: det.exitCode,
    signal: det.signal,
    outputs: digestOfVals(det.outputs, texts),
    exports: digestOfVals(det.exports, texts),
    delegateOf: det.delegateOf,
  });
  const { os, arch, libc, osRelease, timezone, umask } = runtime;
  const full = digestOf({
    core,
    stdout: det.stdout,
    stderr: det.stderr,
    tools: det.tools?.map((index) => componentDigest(resources[index]) ?? null),
    runtime: { os, arch, libc, osRelease, timezone, umask },
  });
  return { core, full };
}

/** The fingerprints of a run: over those of its steps, in order. */
export function fingerprintTrace(root: StepRecordJson): FingerprintsJson {
  const core: unknown[] = [];
  const full: unknown[] = [];
  const visit = (record: StepRecordJson): void => {
    const step = [record.path ?? "", record.name ?? ""];
    core.push([...step, record.det?.coreFingerprint ?? ""]);
    full.push([...step, record.det?.fullFingerprint ?? ""]);
    record.children?.forEach(visit);
  };
  visit(root);
  return { core: digestOf(core), full: digestOf(full) };
}

/** Returns the digest that distinguishes a component from others: that of its tree, otherwise all its digests. */
export function componentDigest(resource: ResourceJson | undefined): unknown {
  if (resource === undefined) return undefined;
  return resource.digest?.["gitTree"] ?? resource.digest ?? {};
}

/**
 * The same value in two runs with different secrets. Why a secret is one does not count: what was only masked in the one
 * run is marked in the replay that it was given to again.
 */
export function stableVal(val: ValJson): unknown {
  if (val.redacted === undefined) return { value: val.value ?? null };
  const { reason, sha256 } = val.redacted;
  return reason === "too_large" ? { redacted: reason, sha256 } : { redacted: "secret" };
}

function stableText(val: ValJson, texts: WeakMap<ValJson, string> | undefined): string {
  const known = texts?.get(val);
  if (known !== undefined) return known;
  const text = canonicalJson(stableVal(val));
  texts?.set(val, text);
  return text;
}

/** SHA-256 of the canonical JSON of values by name. */
function digestOfVals(
  vals: Readonly<Record<string, ValJson>> | undefined,
  texts: WeakMap<ValJson, string> | undefined,
): string | undefined {
  if (vals === undefined) return undefined;
  const names = Object.keys(vals).toSorted();
  const members = names.map((name) => `${JSON.stringify(name)}:${stableText(vals[name] as ValJson, texts)}`);
  return sha256(`{${members.join(",")}}`);
}
