import type { SpecDefinition } from "@steps/model/definition";
import type { Resource } from "@steps/model/event";

/** A step of a checked tree: what would run, before anything does. */
export interface CheckedStep {
  /** Indexes from the root, as in a trace: `0/2`; empty for the root. */
  readonly path: string;
  /** Empty when the author gave none. */
  readonly name: string;
  /** As it is written; of the root its name. */
  readonly reference: string;
  /**
   * `compiled`; `dynamic`: its reference holds an expression; `repeated`: its steps are those of `sameAs`; `unavailable` and
   * `cycle`: a diagnostic says why.
   */
  readonly state: "compiled" | "dynamic" | "repeated" | "unavailable" | "cycle";
  readonly component?: Resource;
  /** The step file inside the component. */
  readonly subpath?: string;
  readonly specDefinition?: SpecDefinition;
  readonly definitionDigest?: string;
  /** The path of the first step that is the same. */
  readonly sameAs?: string;
  /** The steps of its list, followed by those of its `finally`. */
  readonly steps: readonly CheckedStep[];
}
