import type { YamlScalar } from "@steps/source";
import { readPsychScalar } from "../../psych.ts";

const OWN_VALUE = /^\$\[\[\s*matrix\s*\.\s*([A-Za-z0-9_-]+)\s*\]\]$/;

/** The name in `$[[ matrix.NAME ]]`, the value that an instance of a job itself has; `undefined` for any other text. */
export function ownMatrixName(node: YamlScalar): string | undefined {
  return OWN_VALUE.exec(readPsychScalar(node).text)?.[1];
}
