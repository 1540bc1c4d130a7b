export {
  ACTION_HOST,
  type ActionReference,
  formatAction,
  parseActionReference,
  type RepositoryAction,
} from "./reference/action-reference.ts";
export { publicUrl } from "./reference/public-url.ts";
export { gitUrlProblem, type ReferenceProblem, versionProblem } from "./reference/reference-problem.ts";
export type { DistReference } from "./reference/dist.ts";
export type { GitReference } from "./reference/git.ts";
export type { LocalReference } from "./reference/local.ts";
export type { OciReference } from "./reference/oci.ts";
export {
  DEFAULT_FILES,
  formatReference,
  isReferenceProblem,
  parseReference,
  type WrittenReference,
} from "./reference/reference.ts";
export type { StepReference } from "./definition/definition.ts";
export type { ZipReference } from "./reference/zip.ts";
