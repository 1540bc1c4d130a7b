import type { Outcome, RuntimeString, RuntimeValue } from "@steps/model";
import type { StepInvocation, StepsDefinition } from "@steps/model/definition";
import type { Environment, EnvironmentRecord } from "@steps/model/environment";
import type { StepEnd } from "../outcome/step-end.ts";
import type { Level } from "./level.ts";
import type { OpenedStep } from "./opened-step.ts";
import type { Run } from "./run.ts";

/**
 * Runs the items of a list that are not steps but actions, which have a language and phases of their own. There is one for each run,
 * made when the first list names an action; the executor knows nothing else of actions.
 */
export interface ActionRunner {
  /**
   * Brings all actions that the job's list names, and runs what they want done before its first step. Returns the end of the first
   * of these phases that failed; `undefined`: none did. @throws {StepsError} if an action cannot be had
   */
  prepare(run: Run, level: Level, list: ActionInvocations): Promise<StepEnd | undefined>;
  /** Runs an item of a list that has turned out to be an action. */
  runItem(run: Run, level: Pick<Level, "path" | "environment">, item: ActionItem): Promise<StepEnd>;
  /** Runs a whole job that is written in the language of actions. */
  runWorkflowJob(run: Run, level: Level, definition: StepsDefinition): Promise<StepEnd>;
  /** Runs what actions want done after the job's last step, the last first. Returns the first failure; `undefined`: none. */
  runPosts(run: Run): Promise<Outcome | undefined>;
  /** Prepends to PATH, for all later steps, the folders that parallel steps added. Returns the exports. */
  joinPaths(
    run: Run,
    environment: Environment,
    added: { readonly before: string; readonly exports: readonly EnvironmentRecord[] },
  ): Promise<EnvironmentRecord>;
}

/** The items of the job's list, and how to expand what they give their actions before any step has run. */
export interface ActionInvocations {
  readonly invocations: readonly StepInvocation[];
  readonly expand: ExpandGiven;
}

/** Expands the inputs and the variables of an item; what is made of results that are not there yet is empty. */
export type ExpandGiven = (item: { readonly invocation: StepInvocation; readonly path: string }) => GivenToAction;

/** The inputs and variables of an item, expanded. */
interface GivenToAction {
  readonly given: Readonly<Record<string, RuntimeValue>>;
  readonly env: Readonly<Record<string, RuntimeString>>;
}

/** An item of a list that is an action, with everything expanded. */
export interface ActionItem extends GivenToAction {
  /** The path of the item in its list: that of an attempt is below it. */
  readonly path: string;
  readonly invocation: StepInvocation;
  readonly opened: OpenedStep;
}
