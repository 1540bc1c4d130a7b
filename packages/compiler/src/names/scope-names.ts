import { FUNCTION_NAMES } from "@steps/expression/names";
import type { Spec } from "@steps/model/definition";

/** The names that expressions of a definition may use. */
export interface ScopeNames {
  /** The declared inputs. `undefined`: any may be there. */
  readonly inputs: ReadonlySet<string> | undefined;
  /** The declared secrets. `undefined`: any may be there. */
  readonly secrets: ReadonlySet<string> | undefined;
  /** The steps before the expression in its list. */
  readonly steps: ReadonlySet<string>;
  /** The steps that run at the same time as the step with the expression, and its name. Absent: none do. */
  readonly beside?: { readonly name: string; readonly steps: ReadonlySet<string> } | undefined;
  /** Whether it is a condition, which may ask how the steps before it ended. */
  readonly isCondition?: boolean;
  /** Whether a run may succeed without the expression: the step around it may be skipped, or may fail. Default: no. */
  readonly isOptional?: boolean;
}

/** The contexts of every expression. */
export const CONTEXTS: readonly string[] = [
  "inputs",
  "env",
  "vars",
  "job",
  "secrets",
  "steps",
  "output_file",
  "export_file",
  "step_dir",
  "func_dir",
  "work_dir",
];

const FUNCTIONS: readonly string[] = [...FUNCTION_NAMES, "file_exists", "hash_files"];
const OF_CONDITIONS: readonly string[] = [...FUNCTIONS, "success", "failure", "always", "cancelled", "timed_out"];

/** The functions that an expression may call. */
export function functionsOf({ isCondition = false }: ScopeNames): readonly string[] {
  return isCondition ? OF_CONDITIONS : FUNCTIONS;
}

/** The names that the expressions of a step see which has this spec. */
export function namesOfSpec({ inputs, secrets = {} }: Spec): ScopeNames {
  return { inputs: new Set(Object.keys(inputs)), secrets: new Set(Object.keys(secrets)), steps: new Set() };
}

/** The names that the expressions of a job see: what it is given is known only when it runs. */
export const NAMES_OF_JOB: ScopeNames = { inputs: undefined, secrets: undefined, steps: new Set() };
