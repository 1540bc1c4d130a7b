import type { Diagnostic, DiagnosticRule } from "@steps/model/diagnostic";

/** The codes of what is found by looking at the steps that a step names, before any of them runs. */
export type CheckCode =
  | "action-input"
  | "input-mismatch"
  | "missing-input"
  | "missing-secret"
  | "not-locked"
  | "reference-cycle"
  | "step-unavailable"
  | "too-many-steps"
  | "unknown-input"
  | "unknown-output"
  | "unknown-secret";

/** A diagnostic of a step as those that name it see it. */
export type CheckDiagnostic = Diagnostic<CheckCode>;

/** The meaning of each code, and advice on what to do. */
export const CHECK_RULES: Readonly<Record<CheckCode, DiagnosticRule>> = {
  "action-input": {
    title: "A GitHub action is given something odd, or not what it asks for",
    help: "It runs all the same. Compare the names with the inputs of its manifest: `step-runner explain owner/repo@ref`.",
  },
  "input-mismatch": {
    title: "A value is not what the input takes",
    help: "Its type is another one, it is none of the options, or it does not match the pattern of the step's spec.",
  },
  "missing-input": {
    title: "A required input is not given",
    help: "Give it under `inputs:`, or give it a default in the spec of the step.",
  },
  "missing-secret": {
    title: "A required secret is not granted",
    help: "Write `secrets:` at the item that names the step, with where the secret is to be found.",
  },
  "not-locked": {
    title: "A step that a lock cannot name",
    help: "Its reference holds an expression. `--locked` refuses it, unless another step names the same component.",
  },
  "reference-cycle": {
    title: "A step names itself, maybe by way of others",
    help: "It would never end, unless a condition ends it. The message has the chain.",
  },
  "step-unavailable": {
    title: "A step that is named cannot be had",
    help: "The message says why: it is not there, the network or the credentials do not allow it, or it does not compile.",
  },
  "too-many-steps": {
    title: "The steps name too many others",
    help: "Only so many are looked at. Check the parts one by one.",
  },
  "unknown-input": {
    title: "An input that the step does not have",
    help: "Its spec declares none of this name. The hint has the nearest one.",
  },
  "unknown-output": {
    title: "An output that the step does not have",
    help: "Its spec declares none of this name. The hint has the nearest one.",
  },
  "unknown-secret": {
    title: "A secret that the step does not ask for",
    help: "It would be handed out for nothing. Remove it, or declare it in the spec of the step.",
  },
};
