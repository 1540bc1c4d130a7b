import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { type JobRequest, type JobVariable, runAndFollow, startJob } from "@steps/client";
import { type Command, type CommandLine, grouped, print, readSecrets, UsageError } from "@steps/console";
import { decodeUtf8 } from "@steps/model";
import { openTarget, type Target } from "../dial-target.ts";
import { explainFailure } from "../explain-failure.ts";
import { commonFlags, followFlags, tokenOf, windowsOf } from "../follow-flags.ts";
import { openRecord } from "../job-records.ts";
import { stateReporter } from "../report-state.ts";
import { showJob } from "../show-job.ts";

export const run: Command = {
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
  flags: {
    ...followFlags,
    variable: { type: "pairs", summary: "A job variable, ${{ vars.NAME }}; repeat for more" },
    "masked-variable": {
      type: "list",
      placeholder: "NAME[=VALUE]",
      summary: "A job variable that is a secret; without a value that of the environment here; repeat for more",
    },
    secret: {
      type: "list",
      placeholder: "NAME=VALUE",
      summary:
        "A secret that the job can grant to steps that ask for it; VALUE may be env:X or file:P of here; repeat for more",
    },
    ...grouped("The job", {
      id: { type: "string", summary: "The job's id; random by default", env: "RUNNER_BRIDGE_JOB_ID" },
      name: { type: "string", summary: "The job's name in its trace" },
      "work-dir": {
        type: "string",
        placeholder: "DIR",
        summary: "Where the job runs, an absolute path there; the service's own directory by default",
      },
      inputs: {
        type: "pairs",
        summary: "An input of the definition, read by its declared type; lists and objects are JSON; repeat for more",
      },
      env: { type: "pairs", summary: "A variable of the environment that the job starts from; repeat for more" },
      mask: {
        type: "list",
        placeholder: "VALUE",
        summary: "Replace a value by [MASKED] wherever it turns up; repeat for more",
      },
      timeout: {
        type: "duration",
        summary: "Stop the job after this time, exit code 124",
        env: "RUNNER_BRIDGE_TIMEOUT",
      },
      grace: {
        type: "duration",
        summary: "What a cancelled step has between TERM and KILL",
        env: "RUNNER_BRIDGE_GRACE",
      },
      detach: { type: "boolean", summary: "Start the job, print its id and leave" },
      keep: { type: "boolean", summary: "Do not close the job when it has ended" },
    }),
    ...commonFlags,
  },
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
};

async function execute(line: CommandLine): Promise<number> {
  await using target = openTarget(line);
  const request = readRequest(line, target);
  const record = openRecord(line.string("id") ?? randomUUID(), target.name, tokenOf(line));
  const job = { ...request, id: record.id, nonce: record.nonce };
  if (line.boolean("detach")) return await detach(line, { target, job, record });
  const shown = { token: record.token, record, keep: line.boolean("keep") };
  return await showJob(line, shown, (options) => runAndFollow(target.dial, job, options));
}

async function detach(
  line: CommandLine,
  {
    target,
    job,
    record,
  }: { readonly target: Target; readonly job: JobRequest; readonly record: ReturnType<typeof openRecord> },
): Promise<number> {
  const onState = stateReporter({ isVerbose: line.boolean("verbose"), isQuiet: line.boolean("quiet") });
  try {
    const { id } = await startJob(target.dial, job, { token: record.token, ...windowsOf(line), onState });
    await print(`${id}\n`);
    return 0;
  } catch (error) {
    return explainFailure(error, { record, isStarted: false, exitCode: undefined });
  }
}

function readRequest(line: CommandLine, target: Target): JobRequest {
  const [path = ""] = line.positionals;
  const source = path === "-" ? "<stdin>" : path;
  const id = line.string("id");
  if (id === "" || Buffer.byteLength(id ?? "") > 256) throw new UsageError("--id takes 1 to 256 bytes");
  const workDir = workDirOf(line, target);
  const name = line.string("name");
  const timeoutMs = line.number("timeout");
  const graceMs = line.number("grace");
  return {
    definition: decodeUtf8(source, readFileSync(path === "-" ? 0 : path)),
    source,
    env: line.pairs("env"),
    inputs: line.pairs("inputs"),
    variables: { ...variablesOf(line), ...maskedOf(line) },
    grants: readSecrets(line.list("secret")),
    maskedValues: line.list("mask"),
    name,
    workDir,
    timeoutMs,
    graceMs,
  };
}

function workDirOf(line: CommandLine, target: Target): string | undefined {
  const given = line.string("work-dir");
  if (given === undefined || isAbsolute(given)) return given;
  if (target.isHere) return resolve(given);
  throw new UsageError(`--work-dir is "${given}"`, "On another machine it takes an absolute path.");
}

function variablesOf(line: CommandLine): Record<string, JobVariable> {
  return Object.fromEntries(Object.entries(line.pairs("variable")).map(([name, value]) => [name, { value }]));
}

function maskedOf(line: CommandLine): Record<string, JobVariable> {
  return Object.fromEntries(
    line.list("masked-variable").map((text) => {
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
