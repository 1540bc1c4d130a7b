export {
  ACTION_HOST,
  type ActionReference,
  formatAction,
  parseActionReference,
  type RepositoryAction,
} from "./action-reference.ts";
export { publicUrl } from "./public-url.ts";
export { gitUrlProblem, type ReferenceProblem, versionProblem } from "./reference-problem.ts";
export type { DistReference } from "./dist.ts";
export type { GitReference } from "./git.ts";
export type { LocalReference } from "./local.ts";
export type { OciReference } from "./oci.ts";
export { DEFAULT_FILES, formatReference, isReferenceProblem, parseReference, type StepReference } from "./reference.ts";
export type { ZipReference } from "./zip.ts";
