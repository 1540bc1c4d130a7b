import { checkOptionNames, type OptionNames, createObject, type Outcome, type RuntimeValue } from "@steps/model";
import type { Definition } from "@steps/model/definition";
import { Environment } from "@steps/model/environment";
import { signalWithTimeout } from "./outcome/cancelled.ts";
import { checkInputNames, type Inputs, resolveInputs } from "./values/inputs.ts";
import type { Level } from "./run/level.ts";
import { outcomeOfAbort } from "./outcome/outcome.ts";
import { OutputPipePool } from "./output/output-pipes.ts";
import { inPlace } from "./steps/resolve-reference.ts";
import { type ExecuteHooks, type ExecuteRequest, type Run, tell } from "./run/run.ts";
import { runDefinition } from "./steps/run-definition.ts";
import { runToldStep } from "./run/told-step.ts";
import { runStep } from "./steps/run-step.ts";
import { endWithout, type StepEnd } from "./outcome/step-end.ts";
import { checkSecretNames, type Granted, jobSecrets, resolveSecrets } from "./values/secrets.ts";
import { sharedLimit } from "./process/process-limit.ts";
import { Slots } from "./process/slots.ts";
import { Spawner } from "./process/spawner/spawner.ts";
import { SpareFiles } from "./run/spare-files.ts";
import { StepFiles } from "./run/step-files.ts";
import { killSurvivors } from "./process/terminate.ts";
import { createJobContexts } from "./run/variables.ts";

/** The end of a run. */
export interface Executed {
  readonly outcome: Outcome;
  readonly outputs: Readonly<Record<string, RuntimeValue>>;
}

/** The longest time between TERM and KILL for processes that left their step's group, when the job is over. */
const SURVIVOR_GRACE_MS = 1000;
/** The number of processes that are started at the same time: a start waits for hardly more than the processor. */
const STARTS_AT_ONCE = 16;

const REQUEST_NAMES: OptionNames<ExecuteRequest> = {
  job: true,
  allowedExports: true,
  jobTmp: true,
  graceMs: true,
  hurry: true,
  cookie: true,
  outerCookie: true,
  pipeReserve: true,
  reaper: true,
  spawner: true,
  processes: true,
  spawnerAfter: true,
  timeoutMs: true,
};

const HOOK_NAMES: OptionNames<ExecuteHooks> = { loadStep: true, observe: true, openLog: true, actions: true };

/**
 * Runs a compiled job: its steps one after the other, each fetched and compiled when its turn comes, and tells every
 * step's events. When it ends, nothing that the job started is left.
 *
 * The outcome tells everything that a step does; the promise rejects only with an error of `observe`. An abort, best with a `Cancelled`,
 * ends the running process group (TERM, `graceMs` or until `hurry` is aborted, KILL) and starts nothing more.
 */
export async function execute(request: ExecuteRequest, hooks: ExecuteHooks, signal: AbortSignal): Promise<Executed> {
  checkOptionNames("execute()", request, REQUEST_NAMES);
  checkOptionNames("execute()", hooks, HOOK_NAMES);
  const stop = signalWithTimeout(signal, request.timeoutMs);
  const { pipeReserve: reserve, reaper: maker } = request;
  const pipes = new OutputPipePool(request.jobTmp, { reserve, maker });
  pipes.prepare();
  const own = request.spawner === undefined ? new Spawner(request.spawnerAfter) : undefined;
  const run = createRun(request, {
    hooks,
    pipes,
    spawner: request.spawner ?? (own as Spawner),
    processes: request.processes ?? sharedLimit,
    starts: new Slots(STARTS_AT_ONCE),
    signal: stop.signal,
  });
  try {
    const { outcome, outputs } = await runRootStep(run);
    return { outcome, outputs };
  } finally {
    stop.release();
    run.spareFiles.remove();
    await Promise.all([pipes.close(), own?.[Symbol.asyncDispose]()]);
    const { cookie, hurry, state } = run;
    const { since } = state;
    const graceMs = Math.min(SURVIVOR_GRACE_MS, run.graceMs);
    if (since) await killSurvivors(cookie, graceMs, { since, hurry });
  }
}

function createRun(
  { job, allowedExports, jobTmp, graceMs, hurry, cookie, outerCookie }: ExecuteRequest,
  parts: Pick<Run, "hooks" | "pipes" | "spawner" | "processes" | "starts" | "signal">,
): Run {
  const inputs = createObject<RuntimeValue>();
  const contexts = createJobContexts(job.vars, inputs, (name, value) => {
    tell(run, { type: "variable-read", at: Date.now(), path: run.state.readingPath, name, value });
  });
  const run: Run = {
    ...parts,
    job,
    environment: Environment.create(job.env),
    allowedExports,
    jobTmp,
    spareFiles: new SpareFiles(jobTmp),
    graceMs,
    hurry,
    cookie,
    outerCookie,
    contexts,
    jobInputs: inputs,
    state: {
      readingPath: "",
      since: undefined,
      observeFailure: undefined,
      hasFailed: false,
      isCancelled: false,
      actions: undefined,
      unknownVariables: new Set(),
      isWaitNoted: false,
      nextPhase: countOf(job.specDefinition.definition),
    },
  };
  return run;
}

function countOf(definition: Definition): number {
  return definition.type === "exec" ? 0 : definition.steps.length + (definition.finally?.length ?? 0);
}

function runRootStep(run: Run): Promise<StepEnd> {
  return runToldStep(run, { path: "", name: "" }, async () => {
    if (run.signal.aborted) return endWithout(outcomeOfAbort(run.signal.reason));
    const files = new StepFiles(run.jobTmp);
    try {
      return await enterJob(run, files);
    } finally {
      files.remove();
    }
  });
}

async function enterJob(run: Run, files: StepFiles): Promise<StepEnd> {
  const { environment, job } = run;
  const { specDefinition, baseDir, positionOf } = job;
  const given: Inputs = job.inputs;
  checkInputNames(Object.keys(given), specDefinition.spec);
  const inputs = await resolveInputs(given, specDefinition.spec, { allowJsonText: true });
  Object.assign(run.jobInputs, inputs);
  const source = { pointer: "", positionOf };
  const level: Level = {
    path: "",
    depth: 0,
    inputs,
    environment,
    steps: createObject(),
    files,
    ...secretsOfJob(run),
    dir: baseDir,
    root: undefined,
    isFetched: false,
    source,
  };
  const opened = { ...inPlace(specDefinition, { dir: baseDir, root: undefined }), source };
  const invocation = { inputs: given, env: {} };
  return runDefinition(run, level, { opened, inputs, invocation, hasOpenOutputs: false, runStep });
}

function secretsOfJob(run: Run): Granted {
  const { specDefinition, grants = {}, vars } = run.job;
  const secrets = jobSecrets(grants, vars, run.contexts.vars);
  const { spec } = specDefinition;
  if (spec.secrets === undefined) return { secrets, granted: [] };
  const asked = Object.keys(spec.secrets).filter((name) => Object.hasOwn(secrets, name));
  checkSecretNames(asked, spec);
  const { granted } = resolveSecrets(Object.fromEntries(asked.map((name) => [name, secrets[name] ?? null])), spec);
  return { secrets, granted };
}
