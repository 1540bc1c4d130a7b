import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { ComponentCache, ComponentRequest } from "@steps/cache";
import {
  checkOptionNames,
  type OptionNames,
  isStepsError,
  type Job,
  mapObject,
  messageOf,
  type Outcome,
  type RuntimeString,
  sensitive,
} from "@steps/model";
import type { Resource } from "@steps/model/event";
import { REPLAY_EXITS } from "@steps/model/exit-codes";
import { componentKindOf, recordedKindOf } from "@steps/model/kinds";
import type { ResourceJson, TraceJson } from "@steps/proto";
import { jobOf, type MissingValue, type Pins, pinsOf, type RecordedJob, verifyTrace } from "@steps/trace";
import { compareTraces, type Comparison } from "@steps/trace/compare";
import { EngineError } from "./engine-error.ts";
import type { GithubOptions } from "./github/github-options.ts";
import { run, type RunContext, type RunHooks, type RunResult } from "./run.ts";

/** The outcome of a replay; each has an exit code in `REPLAY_EXITS`. */
export type ReplayVerdict =
  | "same"
  | "different"
  | "component-mismatch"
  | "component-unavailable"
  | "missing-secret"
  | "trace-invalid"
  | "runtime-drift"
  | "cancelled"
  | "error";

/** The options of a replay. */
export interface ReplayOptions {
  /** Values for what the trace holds redacted, by the name of the input or variable. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Values that inputs have instead of the recorded ones: folders, such as stores, of this replay. Default: none. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** The directory in which the steps run. Default: the recorded directory if it exists, else the current one. */
  readonly workDir?: string;
  /** The directory that local references are relative to. Default: the recorded one, as it lay to the work directory. */
  readonly baseDir?: string;
  /** The copy of the project that `workDir` is in, for a job that ran in such a copy. Default: only `workDir` is known. */
  readonly workspace?: Job["workspace"];
  /** When true, a drift counts as a difference: logs, tools and the runtime must be equal too. Default: false. */
  readonly countsDrift?: boolean;
  /** The pointers of differences that do not count. Default: none. */
  readonly ignore?: readonly string[];
  /** As of a run; the recorded run's own limits are not known. */
  readonly timeoutMs?: number;
  readonly graceMs?: number;
  /** The facts that GitHub actions are told, as in `RunOptions`: the trace does not hold them. */
  readonly github?: GithubOptions;
  readonly hurry?: AbortSignal;
  readonly hooks?: RunHooks;
  readonly signal: AbortSignal;
}

/** The result of a replay: its verdict, and the comparison with the recorded run. */
export interface ReplayReport {
  readonly verdict: ReplayVerdict;
  readonly exitCode: number;
  /** Why, a sentence each. */
  readonly reasons: readonly string[];
  readonly traceId: string;
  /** How the job of the trace ended; absent if nothing was run. */
  readonly recordedStatus?: string;
  /** Absent if nothing was run. */
  readonly replay?: RunResult;
  readonly comparison?: Comparison;
}

/** A component that a replay will use. */
export interface PlannedComponent {
  readonly resource: ResourceJson;
  readonly location: string;
}

/** Returns the components that a replay pins, without running anything. */
export function planReplay(trace: TraceJson): PlannedComponent[] {
  return (trace.resources ?? [])
    .filter((resource) => resource.kind !== "binary")
    .map((resource) => ({ resource, location: resource.uri ?? "" }));
}

const OPTION_NAMES: OptionNames<ReplayOptions> = {
  secrets: true,
  inputs: true,
  workDir: true,
  baseDir: true,
  workspace: true,
  countsDrift: true,
  ignore: true,
  timeoutMs: true,
  graceMs: true,
  github: true,
  hurry: true,
  hooks: true,
  signal: true,
};

/**
 * Runs a trace again with exactly the components and inputs it names: verifies before, compares after. Nothing runs if
 * the trace was changed, a value is missing, or a component is not what it was.
 *
 * @throws {TraceError} VERSION_UNSUPPORTED, before anything else
 */
export async function replay(context: RunContext, trace: TraceJson, options: ReplayOptions): Promise<ReplayReport> {
  checkOptionNames("replay()", options, OPTION_NAMES);
  const traceId = trace.traceId ?? "";
  const report = (
    verdict: ReplayVerdict,
    reasons: readonly string[],
    more: Partial<ReplayReport> = {},
  ): ReplayReport => ({
    verdict,
    exitCode: REPLAY_EXITS[verdict].code,
    reasons,
    traceId,
    ...more,
  });
  const unready = checkReplay(trace, options);
  if (unready !== undefined) return report(unready.verdict, unready.reasons);
  const recorded = jobOf(trace);
  const { job } = recorded;
  const places = placesOf(recorded, options);
  const pins = pinsOf(trace);
  const broken = await verifyComponents(context.cache, planReplay(trace), { pins, places, signal: options.signal });
  if (broken !== undefined) return report(broken.verdict, broken.reasons);
  const supply = (kind: MissingValue["kind"]) => supplied(kind, recorded.missing, options.secrets ?? {});
  const result = await run(
    context,
    {
      job: {
        ...job,
        inputs: { ...job.inputs, ...supply("input"), ...options.inputs },
        vars: { ...moved(job.vars, places), ...supply("variable") },
        env: { ...moved(job.env, places), ...supply("env") },
        offeredEnv: { ...job.offeredEnv, ...supply("inherited") },
        grants: supply("secret"),
        maskedValues: maskedAgain(recorded.missing, options.secrets ?? {}),
        workDir: places.workDir,
        baseDir: places.baseDir,
        workspace: places.workspace,
      },
      parentTraceId: traceId,
      timeoutMs: options.timeoutMs,
      github: options.github,
      graceMs: options.graceMs,
      hurry: options.hurry,
      pin: (wanted) => findPin(pins, wanted, places),
    },
    options.hooks ?? {},
    options.signal,
  );
  const recordedStatus = trace.root?.det?.status ?? "run_status_unspecified";
  const stopped = verdictOfOutcome(result.outcome);
  if (stopped !== undefined) {
    const reasons = [result.outcome.error?.message ?? "The replay was cancelled"];
    return report(stopped, reasons, { replay: result, recordedStatus });
  }
  const comparison = compareTraces(trace, result.trace(), {
    countsDrift: options.countsDrift === true,
    ignore: options.ignore,
  });
  return report(verdictOf(comparison), [], { replay: result, comparison, recordedStatus });
}

/**
 * Returns the reason for which a trace cannot be run again as it is: it was changed, or a value is missing. Its components
 * are not looked at.
 *
 * @throws {TraceError} TRACE_INVALID when the trace does not say what was asked for
 */
export function checkReplay(
  trace: TraceJson,
  { secrets = {}, inputs = {} }: Pick<ReplayOptions, "secrets" | "inputs">,
): Pick<ReplayReport, "verdict" | "reasons"> | undefined {
  const tampered = verifyTrace(trace);
  if (tampered.length > 0) return { verdict: "trace-invalid", reasons: tampered };
  const recorded = jobOf(trace);
  const missing = recorded.missing.filter(
    ({ kind, name }) => secrets[name] === undefined && !(kind === "input" && Object.hasOwn(inputs, name)),
  );
  const reasons =
    missing.length > 0
      ? missing.map(
          ({ kind, name }) => `The ${kind} "${name}" is redacted in the trace; give it with --secret ${name}=…`,
        )
      : recorded.redactedTexts.map(describeRedacted);
  return reasons.length === 0 ? undefined : { verdict: "missing-secret", reasons };
}

/** Kinds of differences that only a strict replay minds: the result is the same. */
const DRIFT_KINDS: ReadonlySet<string> = new Set(["stdout", "stderr", "tools", "runtime"]);

// Nobody can put it back, and what stands there instead is not what ran.
function describeRedacted(pointer: string): string {
  return `A secret stood in the text of the definition at ${pointer}, and the trace does not hold it; give secrets as inputs or variables`;
}

/** Returns the verdict of a comparison. When drift counts, a comparison with nothing but drift has a verdict of its own. */
export function verdictOf(comparison: Comparison): ReplayVerdict {
  const counted = comparison.differences.filter(({ severity }) => severity === "different");
  if (counted.length === 0) return "same";
  return counted.every(({ kind }) => DRIFT_KINDS.has(kind)) ? "runtime-drift" : "different";
}

// A component that only turns out to be missing or changed while steps run is no difference of the build.
function verdictOfOutcome(outcome: Outcome): ReplayVerdict | undefined {
  if (outcome.status === "cancelled") return "cancelled";
  return outcome.error === undefined ? undefined : verdictOfCode(outcome.error.code);
}

function verdictOfCode(code: string): ReplayVerdict | undefined {
  if (code === "PIN_MISMATCH" || code === "PIN_MISSING" || code === "DIGEST_MISMATCH") return "component-mismatch";
  return ["OFFLINE", "REPOSITORY_NOT_FOUND", "REFERENCE_NOT_FOUND", "TRANSPORT", "AUTH_FAILED"].includes(code)
    ? "component-unavailable"
    : undefined;
}

interface ReplayPlaces {
  readonly workDir: string;
  readonly recordedWorkDir: string;
  readonly workspace: Job["workspace"];
  readonly baseDir: string;
  readonly recordedBaseDir: string;
}

function placesOf(recorded: RecordedJob, options: ReplayOptions): ReplayPlaces {
  const { projectDir, workDir: recordedWorkDir } = recorded;
  const workDir = options.workDir ?? (existsSync(recordedWorkDir) ? recordedWorkDir : process.cwd());
  return {
    workDir,
    recordedWorkDir,
    // A workspace that was alone in its folder has to be told from its surroundings, also where nothing was copied for the replay.
    workspace: projectDir === undefined ? undefined : (options.workspace ?? { root: dirname(workDir), projectDir }),
    baseDir: options.baseDir ?? resolve(workDir, recorded.baseDir),
    recordedBaseDir: resolve(recordedWorkDir, recorded.baseDir),
  };
}

// A variable that names the directory of the recorded run, such as CI_PROJECT_DIR, names that of this one.
function moved(
  variables: Readonly<Record<string, RuntimeString>>,
  { workDir, recordedWorkDir, workspace }: ReplayPlaces,
): Record<string, RuntimeString> {
  if (!isAbsolute(recordedWorkDir) || recordedWorkDir === "/") return { ...variables };
  const moves = [[recordedWorkDir, workDir] as const];
  // CI_BUILDS_DIR and RUNNER_WORKSPACE name the folder around a workspace.
  if (workspace !== undefined) moves.push([dirname(recordedWorkDir), dirname(workDir)]);
  return mapObject(variables, (value) =>
    typeof value === "string" ? moves.reduce((text, [from, to]) => movePath(text, from, to), value) : value,
  );
}

function movePath(text: string, from: string, to: string): string {
  return text.replaceAll(from, (found, at: number) => {
    const next = text[at + from.length];
    return next === undefined || next === "/" || next === ":" ? to : found;
  });
}

// A local component lies as far from the base directory as it did, wherever the base directory is now.
function recordedPath(dir: string, places: ReplayPlaces): string {
  const inner = relative(places.baseDir, dir);
  return inner.startsWith("..") || isAbsolute(inner) ? dir : join(places.recordedBaseDir, inner);
}

function presentPath(dir: string, places: ReplayPlaces): string {
  const inner = relative(places.recordedBaseDir, dir);
  return inner.startsWith("..") || isAbsolute(inner) ? dir : join(places.baseDir, inner);
}

function findPin(pins: Pins, request: ComponentRequest, places: ReplayPlaces): Resource {
  const kind = componentKindOf(request);
  const { uri, version } = kind.name(kind.moved?.(request, (dir) => recordedPath(dir, places)) ?? request);
  const found = pins.find(request.kind, uri, version);
  if (found !== undefined) return found;
  throw new EngineError("PIN_MISSING", `Cannot replay component "${uri}": the trace does not name it`);
}

async function verifyComponents(
  cache: ComponentCache,
  planned: readonly PlannedComponent[],
  options: { readonly pins: Pins; readonly places: ReplayPlaces; readonly signal: AbortSignal },
): Promise<{ verdict: ReplayVerdict; reasons: string[] } | undefined> {
  const reasons: string[] = [];
  let verdict: ReplayVerdict = "component-unavailable";
  for (const { resource } of planned) {
    const request = requestFor(resource, options.places);
    if (request === undefined) continue;
    try {
      await cache.resolve(request, { signal: options.signal, pin: findPin(options.pins, request, options.places) });
    } catch (error) {
      if (options.signal.aborted) return { verdict: "cancelled", reasons: [messageOf(error)] };
      if (!isStepsError(error)) throw error;
      if (verdictOfCode(error.code) === "component-mismatch") verdict = "component-mismatch";
      reasons.push(error.message);
    }
  }
  return reasons.length === 0 ? undefined : { verdict, reasons };
}

function requestFor(resource: ResourceJson, places: ReplayPlaces): ComponentRequest | undefined {
  const { kind: word = "", uri = "", requestedVersion = "" } = resource;
  const kind = recordedKindOf({ kind: word });
  const request = kind?.requestOf({ uri, requestedVersion });
  return request && (kind?.moved?.(request, (dir) => presentPath(dir, places)) ?? request);
}

function supplied(
  kind: MissingValue["kind"],
  missing: readonly MissingValue[],
  secrets: Readonly<Record<string, string>>,
): Record<string, RuntimeString> {
  const wanted = missing.filter((item) => item.kind === kind);
  return Object.fromEntries(
    wanted.map(({ name, reason }) => {
      const value = secrets[name] ?? "";
      // A value that only was equal to a secret, or was too large to be kept, was not marked in the recorded run.
      return [name, reason === "sensitive" ? sensitive(value) : value];
    }),
  );
}

function maskedAgain(missing: readonly MissingValue[], secrets: Readonly<Record<string, string>>): string[] {
  return missing.flatMap(({ name, reason }) => (reason === "masked_value" ? [secrets[name] ?? ""] : []));
}
