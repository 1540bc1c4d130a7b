import type { SpecDefinition } from "@steps/model/definition";

/** A step that is written in place, where a reference could stand. */
export interface InlineSpec {
  readonly specDefinition: SpecDefinition;
  /** It was written with a spec of its own. A step without one sees the inputs of its caller. */
  readonly hasSpec: boolean;
}
