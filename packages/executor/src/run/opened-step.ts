import type { StepReference } from "@steps/model/reference";
import type { DefinitionSource } from "./level.ts";
import type { LoadedStep } from "./run.ts";

/** A step that is ready to be given its inputs. */
export interface OpenedStep extends Omit<LoadedStep, "positionOf"> {
  /** With expressions expanded. */
  readonly reference: StepReference;
  readonly source: DefinitionSource;
}
