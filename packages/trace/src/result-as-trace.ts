import type { RunStatusJson, StepRecordJson, StepResult_StatusJson, StepResultJson, TraceJson } from "@steps/proto";

const STATUSES: Readonly<Record<StepResult_StatusJson, RunStatusJson>> = {
  unspecified: "run_status_unspecified",
  running: "running",
  success: "success",
  failure: "failure",
  cancelled: "cancelled",
};

/** Turns a result tree into a trace that says no more than it, so that it can be shown. */
export function resultAsTrace(result: StepResultJson): TraceJson {
  const jobName = result.step?.name ?? "";
  return { root: recordOf(result, ""), ...(jobName === "" ? {} : { request: { jobName } }) };
}

function recordOf(result: StepResultJson, path: string): StepRecordJson {
  const { step, status = "unspecified", outputs = {}, exports = {}, execResult } = result;
  const children = result.subStepResults ?? [];
  return {
    ...(path === "" ? {} : { path }),
    name: step?.name === undefined ? undefined : step.name,
    det: {
      status: STATUSES[status],
      reference: step?.step === undefined ? undefined : step.step,
      ...(execResult === undefined ? {} : { exitCode: execResult.exitCode ?? 0, command: execResult.command ?? [] }),
      outputs: valsOf(outputs),
      exports: valsOf(exports),
    },
    children: children.map((child, index) => recordOf(child, path === "" ? String(index) : `${path}/${index}`)),
  };
}

function valsOf<T>(record: Readonly<Record<string, T>>): Record<string, { value: T }> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, { value }]));
}
