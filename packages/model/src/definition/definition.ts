import type { GithubInvocation, GithubPart } from "./github.ts";
import type { WrittenReference } from "../reference/reference.ts";
import type { Value, ValueType } from "../value/value.ts";

/** The inputs, outputs and secrets that a step declares. */
export interface Spec {
  readonly inputs: Readonly<Record<string, InputSpec>>;
  /** `delegate`: the outputs are those of the step that the definition delegates to. */
  readonly outputs: Readonly<Record<string, OutputSpec>> | "delegate";
  /** Outputs that nobody declared are read too, as strings or JSON. Only `script:` has this. */
  readonly hasOpenOutputs?: boolean;
  /** The secrets that the step asks its caller for, by name. Absent when there are none. */
  readonly secrets?: Readonly<Record<string, SecretSpec>>;
  readonly description?: string;
}

/** A secret that a step asks for: who calls it grants it or does not. */
export interface SecretSpec {
  readonly description?: string;
  /** The permissions that the secret needs, such as `read_api`, for whoever grants it. */
  readonly permissions: readonly string[];
  /** `file`: the variable holds the path of a file with the secret. */
  readonly as: "env" | "file";
  /** The environment variable that the step's process finds it in. */
  readonly env: string;
  readonly isRequired: boolean;
}

/** The declaration of an input. */
export interface InputSpec {
  readonly type: ValueType;
  /** Absent: the input is required. `null` makes it optional. */
  readonly default?: Value;
  readonly isSensitive: boolean;
  readonly description?: string;
  readonly options?: readonly Value[];
  /** RE2 syntax, unanchored. */
  readonly match?: string;
}

/** The declaration of an output. Without a `default` the step must give it. */
export interface OutputSpec {
  readonly type: ValueType;
  readonly default?: Value;
  readonly isSensitive: boolean;
  readonly description?: string;
  /** `raw_string` of 2024: a `KEY=VALUE` line is taken as it stands, also when it looks like JSON. */
  readonly isRaw?: boolean;
}

/** The baseline: run a command, or run more steps. Texts may hold `${{ }}` expressions, expanded just before use. */
export type Definition = ExecDefinition | StepsDefinition;

/** A definition that runs one command. */
export interface ExecDefinition {
  readonly type: "exec";
  /** The program and its arguments: at least one text. No shell is involved. */
  readonly command: readonly string[];
  readonly workDir?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Between TERM and KILL, where that is less than what the job gives. */
  readonly cancelTimeoutMs?: number;
  /** The process finds a file with its inputs and environment as JSON: `STEP_JSON` is its path. */
  readonly hasContextFile?: boolean;
  readonly inheritEnv?: readonly string[];
  /** Written in the form of the blueprint: `type:`, and no input with a type. Known of a file alone; no part of the baseline. */
  readonly isBlueprint?: boolean;
  /** Present: the definition is one of GitHub Actions. */
  readonly github?: GithubPart;
}

/** A definition that runs a list of steps. */
export interface StepsDefinition {
  readonly type: "steps";
  readonly steps: readonly StepInvocation[];
  /** All at once; none sees another's results. */
  readonly isParallel?: boolean;
  /** Run when the steps have ended, however they did. */
  readonly finally?: readonly StepInvocation[];
  readonly env: Readonly<Record<string, string>>;
  readonly outputs: Readonly<Record<string, Value>>;
  /** The name of the child whose outputs are this step's. */
  readonly delegate?: string;
  /**
   * Names and patterns of the variables that the step inherits, besides those of `MINIMAL_ENV_NAMES`. Absent: all that its
   * caller has. What is declared and what steps exported is there in any case.
   */
  readonly inheritEnv?: readonly string[];
  /** Present: the definition is one of GitHub Actions. */
  readonly github?: GithubPart;
}

/** One item of a list of steps. */
export interface StepInvocation {
  /** The name of the step; empty when the author gave none. */
  readonly name: string;
  readonly step: StepReference;
  readonly inputs: Readonly<Record<string, Value>>;
  readonly env: Readonly<Record<string, string>>;
  /** The secrets that the step is granted, by the names in its spec. The texts may hold expressions. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Absent: the step runs once, after success, for as long as it takes. */
  readonly control?: StepControl;
  /** The GitHub part of an item in a list of GitHub Actions; its `inputs` and `env` are in GitHub's language too. */
  readonly github?: GithubInvocation;
}

/** Whether a step runs, how long, and how often. */
export interface StepControl {
  /**
   * A text with expressions; the step runs where it is true. Without `success()`, `failure()`, `always()` or `cancelled()`
   * in it the steps before have to have succeeded, too.
   */
  readonly condition?: string;
  /** The steps after it run whether it succeeds or not. */
  readonly continueOnError?: boolean;
  readonly timeoutMs?: number;
  /** `backoffMs` before the second attempt, twice as long before each one after that. */
  readonly retry?: { readonly max: number; readonly backoffMs: number };
}

/** A step: its inputs and outputs, and its work. */
export interface SpecDefinition {
  readonly spec: Spec;
  readonly definition: Definition;
}

/** Names the source of a step's files in an invocation. */
export type StepReference = WrittenReference | InlineReference;

/** A definition written in place. */
interface InlineReference {
  readonly kind: "inline";
  readonly specDefinition: SpecDefinition;
  /**
   * True for a list item that is written in place: it sees the inputs of the step that it is written in (conformance
   * section 20 C19).
   */
  readonly seesCallerInputs: boolean;
}

/** A spec that takes nothing and gives nothing. */
export const emptySpec: Spec = { inputs: {}, outputs: {} };

/** Names of inputs, outputs and environment variables. */
export const NAME_PATTERN: RegExp = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * The names of steps in a list. Hyphens are accepted because older documents have them (conformance section 20 C17).
 */
export const STEP_NAME_PATTERN: RegExp = /^[a-zA-Z_][a-zA-Z0-9_-]*$/;
