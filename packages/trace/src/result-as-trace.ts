import type { RunStatusJson, StepRecordJson, StepResult_StatusJson, StepResultJson, TraceJson } from "@steps/proto";

const STATUSES: Readonly<Record<StepResult_StatusJson, RunStatusJson>> = {
  unspecified: "run_status_unspecified",
  running: "running",
  success: "success",
  failure: "failure",
  cancelled: "cancelled",
};

/** What a result tree says, as the trace that would say no more: for showing it. */
export function resultAsTrace(result: StepResultJson): TraceJson {
  const jobName = result.step?.name ?? "";
  return { root: recordOf(result, ""), ...(jobName === "" ? {} : { request: { jobName } }) };
}

function recordOf(result: StepResultJson, path: string): StepRecordJson {
  const { step, status = "unspecified", outputs = {}, exports = {}, execResult } = result;
  const children = result.subStepResults ?? [];
  return {
    ...(path === "" ? {} : { path }),
    ...(step?.name === undefined ? {} : { name: step.name }),
    det: {
      status: STATUSES[status],
      ...(step?.step === undefined ? {} : { reference: step.step }),
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
