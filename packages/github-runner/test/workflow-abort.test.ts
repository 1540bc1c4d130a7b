import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cancelled, execute, type LoadStep } from "@steps/executor";
import { TimedOut } from "@steps/executor/kit";
import { type Job, type Outcome, StepsError } from "@steps/model";
import { emptySpec, type SpecDefinition } from "@steps/model/definition";
import { expect, onTestFinished, test } from "vitest";
import { type ActionHost, createActionRunner } from "../src/index.ts";

/** A job of a workflow whose only step is an action in the workspace, which is loaded when the step's turn comes. */
const workflow: SpecDefinition = {
  spec: emptySpec,
  definition: {
    type: "steps",
    env: {},
    outputs: {},
    github: { using: "job" },
    steps: [{ name: "a", step: { kind: "action", source: "workspace", dir: "a" }, inputs: {}, env: {} }],
  },
};

const host: ActionHost = {
  describe: () => ({ github: {}, runner: {}, event: {}, environment: () => ({}) }),
  toolCacheDir: "/tools",
  services: async () => ({}),
  mask: (text) => text,
  isDebug: false,
  groupStyle: "github",
};

async function run(loadStep: LoadStep, signal: AbortSignal): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), "workflow-abort-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const job: Job = {
    entry: "run",
    source: "test",
    specDefinition: workflow,
    inputs: {},
    vars: {},
    env: { PATH: "/usr/bin:/bin" },
    workDir: dir,
    baseDir: dir,
  };
  const request = { job, jobTmp: dir, graceMs: 0, cookie: `workflow-abort-${process.pid}` };
  const openLog = () => ({ write: () => undefined, close: () => undefined });
  const actions = async () => createActionRunner(async () => host);
  const { outcome } = await execute(request, { loadStep, observe: () => undefined, openLog, actions }, signal);
  return outcome;
}

test.each([
  [new TimedOut(1000), { status: "timeout", error: { code: "TIMEOUT" } }],
  [new Cancelled("SIGTERM"), { status: "cancelled", signal: "SIGTERM", error: { code: "CANCELLED" } }],
])(
  "actionLanguage() gives the outcome of the abort when loading a step fails after it: %s",
  async (reason, outcome) => {
    const stop = new AbortController();
    const loadStep: LoadStep = async () => {
      stop.abort(reason);
      throw new StepsError("ABORTED", "Cannot resolve component: the request was cancelled");
    };
    expect(await run(loadStep, stop.signal)).toMatchObject(outcome);
  },
);

test("actionLanguage() gives the failure of loading a step when nothing was aborted", async () => {
  const loadStep: LoadStep = async () => {
    throw new StepsError("COMPONENT_NOT_FOUND", "Cannot resolve component");
  };
  expect(await run(loadStep, new AbortController().signal)).toMatchObject({ error: { code: "COMPONENT_NOT_FOUND" } });
});
