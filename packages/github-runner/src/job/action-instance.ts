import type { Inputs, OpenedStep, Run } from "@steps/executor/kit";
import type { RuntimeString } from "@steps/model";
import type { Definition, GithubPart } from "@steps/model/definition";
import type { EnvironmentRecord } from "@steps/model/environment";
import type { ActionScope } from "./action-scope.ts";
import type { PostEntry } from "./phase-entry.ts";

/** The inputs of an action, all of them texts, by the names of its manifest. */
export type ActionInputs = Readonly<Record<string, RuntimeString>>;

/** The phases of an action. */
export type ActionPhase = "pre" | "main" | "post";

/** An item of a list that is an action, ready to be carried out. */
export interface ActionCall {
  /** The place of the item: the expressions of its list see this. */
  readonly caller: ActionScope;
  readonly path: string;
  /** The name that the item is shown by. */
  readonly title: string;
  /** The id of the item; empty when the author gave none. */
  readonly id: string;
  readonly opened: OpenedStep;
  /** The inputs that the item gives, expanded: nothing in them is an expression any more. */
  readonly given: Inputs;
  /** The invocation's own variables, expanded; they are in the caller's environment already. */
  readonly env: EnvironmentRecord;
  /** The list that the action's `post` is added to. */
  readonly posts: PostEntry[];
  /** Tells whether the job goes on after a failure of any phase. */
  readonly allowsFailure: (run: Run) => boolean;
}

/** One step that is an action, through all its phases. */
export interface ActionInstance {
  readonly call: ActionCall;
  readonly definition: Definition;
  readonly part: GithubPart;
  readonly inputs: ActionInputs;
  /** The place of the action's own expressions. */
  readonly scope: ActionScope;
  /** The value of `GITHUB_ACTION`. */
  readonly id: string;
  readonly state: Map<string, string>;
  /** The `post` of the steps of a composite action; empty for all others. */
  readonly posts: PostEntry[];
  /** The action's `post` has been added to its list, which happens once. */
  isPutAside: boolean;
}
