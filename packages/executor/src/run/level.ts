import { createScope, type Scope } from "@steps/expression";
import type { RuntimeValue, Sensitive } from "@steps/model";
import type { SecretSpec } from "@steps/model/definition";
import type { Position } from "@steps/model/diagnostic";
import type { Environment } from "@steps/model/environment";
import type { Places } from "@steps/model/event";
import type { Run } from "./run.ts";
import type { StepFiles } from "./step-files.ts";

/** A step whose definition is being carried out, with everything that its expressions see. */
export interface Level {
  readonly path: string;
  /** The number of steps around it: 0 for the job. */
  readonly depth: number;
  readonly inputs: Readonly<Record<string, RuntimeValue>>;
  readonly environment: Environment;
  /** The results of its children so far, by name. */
  readonly steps: Record<string, RuntimeValue>;
  readonly files: StepFiles;
  /**
   * The context `secrets` of its expressions: the secrets that it was granted, all marked, and null for those it does
   * without.
   */
  readonly secrets: Readonly<Record<string, RuntimeValue>>;
  /** The secrets that its own spec asked for, for its own process. */
  readonly granted: readonly GrantedSecret[];
  readonly dir: string;
  readonly root: string | undefined;
  /** True when it was fetched from elsewhere, or is called by a step that was. */
  readonly isFetched: boolean;
  readonly source: DefinitionSource;
}

/** A secret that a step has. */
export interface GrantedSecret {
  readonly name: string;
  readonly spec: SecretSpec;
  readonly value: Sensitive;
}

/** The place in which a definition was written. */
export interface DefinitionSource {
  /** The JSON pointer of the SpecDefinition within the encoded one that `positionOf` knows; empty for the whole. */
  readonly pointer: string;
  readonly positionOf: ((pointer: string) => Position | undefined) | undefined;
}

/** Returns the contexts of expressions (conformance section 7). Each is looked up only when an expression names it. */
export function scopeOf(
  run: Run,
  level: Level,
  overrides: { environment?: Environment; files?: StepFiles } = {},
): Scope {
  const environment = overrides.environment ?? level.environment;
  const files = overrides.files ?? level.files;
  return createScope({
    inputs: () => level.inputs as RuntimeValue,
    env: () => environment.flatten() as RuntimeValue,
    vars: () => run.contexts.vars,
    job: () => run.contexts.job,
    secrets: () => level.secrets as RuntimeValue,
    steps: () => level.steps,
    output_file: () => files.outputFile(),
    export_file: () => files.exportFile(),
    step_dir: () => level.dir,
    func_dir: () => level.dir,
    work_dir: () => run.job.workDir,
  });
}

/** The paths of a step that differ from run to run. */
export function placesOf(run: Run, level: Pick<Level, "dir" | "files">): Places {
  return { workDir: run.job.workDir, stepDir: level.dir, jobTmp: run.jobTmp, ...level.files.created };
}
