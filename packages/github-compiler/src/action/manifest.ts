import type { GithubDiagnostic } from "../action-rules.ts";
import type { SpecDefinition } from "@steps/model/definition";
import type { Position } from "@steps/model/diagnostic";

/** The files that describe an action, in the order in which a folder is looked through. */
export const MANIFEST_FILES: readonly string[] = ["action.yml", "action.yaml"];

/** The files that are an action without inputs where no manifest is, in the order in which a folder is looked through. */
export const DOCKERFILE_ACTIONS: readonly string[] = ["Dockerfile", "dockerfile"];

/** The options of `compileAction()`. */
export interface CompileActionOptions {
  /**
   * When true, the diagnostics note things that only the author of the manifest can mend: a `name` or `description` that GitHub's
   * documentation asks for and the runner does not, and numbers that change as texts. Default: false.
   */
  readonly advisesAuthor?: boolean;
}

/** The result of `compileAction()`. */
export interface CompiledAction {
  /** `undefined` if and only if there are errors among the diagnostics. */
  readonly specDefinition: SpecDefinition | undefined;
  /** In the order of the text. */
  readonly diagnostics: readonly GithubDiagnostic[];
  /** The place of a JSON pointer into the encoded baseline, or of the nearest part around it. */
  readonly positionOf: (pointer: string) => Position | undefined;
}
