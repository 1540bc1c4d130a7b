import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { type JobRequest, type JobVariable, runAndFollow, startJob } from "@steps/client";
import { defineCommand, flag, grouped, type OptionsOf, UsageError } from "@steps/console";
import { print } from "@steps/console/terminal";
import { JOB_EXITS } from "@steps/model/exit-codes";
import { decodeUtf8 } from "@steps/model/utf8";
import { openTarget, type Target } from "../dial-target.ts";
import { explainFailure } from "../explain-failure.ts";
import { commonFlags, followFlags, windowsOf } from "../follow-flags.ts";
import { openRecord } from "../job-records.ts";
import { stateReporter } from "../report-state.ts";
import { showJob } from "../show-job.ts";

const flags = {
  ...followFlags,
  variable: flag.pairs({ summary: "A job variable, ${{ vars.NAME }}; repeat for more" }),
  "masked-variable": flag.list({
    placeholder: "NAME[=VALUE]",
    summary: "A job variable that is a secret; without a value that of the environment here; repeat for more",
  }),
  secret: flag.secrets({
    summary:
      "A secret that the job can grant to steps that ask for it; VALUE may be env:X or file:P of here; repeat for more",
  }),
  ...grouped("The job", {
    id: flag.text({ summary: "The job's id; random by default", env: "RUNNER_BRIDGE_JOB_ID" }),
    name: flag.text({ summary: "The job's name in its trace" }),
    "work-dir": flag.text({
      placeholder: "DIR",
      summary: "Where the job runs, an absolute path there; the service's own directory by default",
    }),
    inputs: flag.pairs({
      summary: "An input of the definition, read by its declared type; lists and objects are JSON; repeat for more",
    }),
    env: flag.pairs({ summary: "A variable of the environment that the job starts from; repeat for more" }),
    mask: flag.list({
      placeholder: "VALUE",
      summary: "Replace a value by [MASKED] wherever it turns up; repeat for more",
    }),
    timeout: flag.duration({
      summary: `Stop the job after this time, exit code ${JOB_EXITS.timeout.code}`,
      env: "RUNNER_BRIDGE_TIMEOUT",
      isPositive: true,
    }),
    grace: flag.duration({
      summary: "The time that a cancelled step has between TERM and KILL",
      env: "RUNNER_BRIDGE_GRACE",
    }),
    detach: flag.boolean({ summary: "Start the job, print its id and leave" }),
    keep: flag.boolean({ summary: "Do not close the job when it has ended" }),
  }),
  ...commonFlags,
};
type Options = OptionsOf<typeof flags>;

export const run = defineCommand({
  name: "run",
  summary: "Run steps on a service, print their output as it comes, and exit as the job does",
  usage: "STEPS_FILE|- [TARGET] [flags]",
  description: [
    "STEPS_FILE is a list of steps or a whole definition, YAML or JSON; - is standard input. It is sent as it is, so files " +
      "that steps refer to have to be there, not here.",
    "The connection may be lost at any moment: the job goes on, and its output is read on from the byte where it stopped. " +
      "Ctrl-C cancels the job and follows it to its end; a second one leaves at once.",
    "The same --id on the same target is the same job, never a second one, until it is closed.",
  ],
  flags,
  positionals: { min: 1, max: 1 },
  examples: [
    ["runner-bridge run steps.yml", "run steps on the service of this machine"],
    ["runner-bridge run steps.yml --docker build --work-dir /builds/project", "run steps in a container"],
    ["runner-bridge run steps.yml --ssh ci@host --masked-variable TOKEN", "run steps on a machine, with a secret"],
    ["runner-bridge run steps.yml --secret token=env:TOKEN", "grant a secret to the steps that ask for it"],
    [
      "runner-bridge run - --kubernetes ci/pod-7/build --verbose <steps.yml",
      "run steps in a pod, and say what the connection does",
    ],
    ["id=$(runner-bridge run steps.yml --detach) && runner-bridge follow $id", "start a job, and follow it later"],
  ],
  run: execute,
});

async function execute(options: Options, [path = ""]: readonly string[]): Promise<number> {
  await using target = openTarget(options);
  const request = readRequest(options, path, target);
  const record = openRecord(options.id ?? randomUUID(), target.name, options.token);
  const job = { ...request, id: record.id, nonce: record.nonce };
  if (options.detach) return await detach(options, { target, job, record });
  const shown = { token: record.token, record, keep: options.keep };
  return await showJob(options, shown, (follow) => runAndFollow(target.dial, job, follow));
}

async function detach(
  options: Options,
  {
    target,
    job,
    record,
  }: { readonly target: Target; readonly job: JobRequest; readonly record: ReturnType<typeof openRecord> },
): Promise<number> {
  const onState = stateReporter({ isVerbose: options.verbose, isQuiet: options.quiet });
  try {
    const { id } = await startJob(target.dial, job, { token: record.token, ...windowsOf(options), onState });
    await print(`${id}\n`);
    return 0;
  } catch (error) {
    return explainFailure(error, { record, isStarted: false, exitCode: undefined });
  }
}

function readRequest(options: Options, path: string, target: Target): JobRequest {
  const { id } = options;
  const source = path === "-" ? "<stdin>" : path;
  if (id === "" || Buffer.byteLength(id ?? "") > 256) throw new UsageError("--id takes 1 to 256 bytes");
  const workDir = workDirOf(options, target);
  return {
    definition: decodeUtf8(source, readFileSync(path === "-" ? 0 : path)),
    source,
    env: options.env,
    inputs: options.inputs,
    variables: { ...variablesOf(options), ...maskedOf(options) },
    grants: options.secret,
    maskedValues: options.mask,
    name: options.name,
    workDir,
    timeoutMs: options.timeout,
    graceMs: options.grace,
  };
}

function workDirOf({ workDir: given }: Options, target: Target): string | undefined {
  if (given === undefined || isAbsolute(given)) return given;
  if (target.isHere) return resolve(given);
  throw new UsageError(`--work-dir is "${given}"`, "On another machine it takes an absolute path.");
}

function variablesOf({ variable }: Options): Record<string, JobVariable> {
  return Object.fromEntries(Object.entries(variable).map(([name, value]) => [name, { value }]));
}

function maskedOf({ maskedVariable }: Options): Record<string, JobVariable> {
  return Object.fromEntries(
    maskedVariable.map((text) => {
      const split = text.indexOf("=");
      const name = split === -1 ? text : text.slice(0, split);
      const value = split === -1 ? process.env[name] : text.slice(split + 1);
      if (name === "" || value === undefined)
        throw new UsageError(
          `--masked-variable has no value for "${name}"`,
          "Write NAME=VALUE, or set it in the environment.",
        );
      return [name, { value, isMasked: true }];
    }),
  );
}
