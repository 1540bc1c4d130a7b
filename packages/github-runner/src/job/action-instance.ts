import type { Inputs, OpenedStep, Run } from "@steps/executor/kit";
import type { Definition, EnvironmentRecord, GithubPart, RuntimeString } from "@steps/model";
import type { ActionScope } from "./action-scope.ts";
import type { PostEntry } from "./phase-entry.ts";

/** The inputs of an action, all of them texts, by the names of its manifest. */
export type ActionInputs = Readonly<Record<string, RuntimeString>>;

/** The phases of an action. */
export type ActionPhase = "pre" | "main" | "post";

/** An item of a list that is an action, ready to be carried out. */
export interface ActionCall {
  /** Where the item stands. */
  readonly caller: ActionScope;
  readonly path: string;
  /** As it is shown. */
  readonly title: string;
  /** Empty when the author gave none. */
  readonly id: string;
  readonly opened: OpenedStep;
  /** Literal: nothing in them is an expression any more. */
  readonly given: Inputs;
  /** Of the invocation, expanded; it is in the caller's environment already. */
  readonly env: EnvironmentRecord;
  /** Where what has to be done afterwards is put. */
  readonly posts: PostEntry[];
  /** Whether a failure of any phase is none of the job. */
  readonly allowsFailure: (run: Run) => boolean;
}

/** One step that is an action, through all its phases. */
export interface ActionInstance {
  readonly call: ActionCall;
  readonly definition: Definition;
  readonly part: GithubPart;
  readonly inputs: ActionInputs;
  /** What its own expressions see. */
  readonly scope: ActionScope;
  /** `GITHUB_ACTION`. */
  readonly id: string;
  readonly state: Map<string, string>;
  /** `composite`: what its steps want done afterwards. */
  readonly posts: PostEntry[];
  /** What it wants done afterwards is put aside once. */
  isPutAside: boolean;
}
