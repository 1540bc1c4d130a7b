import type { OptionNames, Value } from "@steps/model";

/** The facts that are known of a run before a job starts. */
export interface WorkflowOptions {
  /**
   * The inputs of `workflow_dispatch` or `workflow_call`. Texts are converted to the types that the workflow declares.
   */
  readonly inputs?: Readonly<Record<string, Value>>;
  readonly vars?: Readonly<Record<string, string>>;
  /** The context `github`, for matrices, names and labels that read it. */
  readonly github?: Readonly<Record<string, Value>>;
  /** The context `needs`: `{build: {result: "success", outputs: {…}}}`. */
  readonly needs?: Readonly<Record<string, Value>>;
  /** When true, a job of another workflow calls this one: its inputs are those of `workflow_call`. Default: false. */
  readonly isCalled?: boolean;
  /** When true, nobody has called the workflow yet, so the values of its inputs are not known. Default: false. */
  readonly hasUnknownInputs?: boolean;
  /** Without it: that of the inputs that the workflow declares. */
  readonly eventName?: string;
}

export const WORKFLOW_OPTION_NAMES: OptionNames<WorkflowOptions> = {
  inputs: true,
  vars: true,
  github: true,
  needs: true,
  isCalled: true,
  hasUnknownInputs: true,
  eventName: true,
};

/** The options of `compileWorkflowJob()`. */
export interface CompileWorkflowJobOptions extends WorkflowOptions {
  /** A job's id, or the name of one of its instances: `test (ubuntu, 20)`. Without it: the only job. */
  readonly jobName?: string;
  /** The matrix values of the instance, as texts: `{os: "ubuntu", node: "20"}`. Not all keys need be there. */
  readonly matrix?: Readonly<Record<string, string>>;
}
