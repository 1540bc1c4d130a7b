export * from "./action-reference.ts";
export * from "./baseline.ts";
export * from "./canonical.ts";
export * from "./definition.ts";
export * from "./diagnostic.ts";
export * from "./digest.ts";
export * from "./environment.ts";
export * from "./error.ts";
export * from "./event.ts";
export { COMMAND_EXITS, type ExitCode, exitCodeOfError, JOB_EXITS, REPLAY_EXITS } from "./exit-codes.ts";
export type { GithubInvocation, GithubPart } from "./github.ts";
export type { Job, RunMode } from "./job.ts";
export * from "./position.ts";
export * from "./public-url.ts";
export {
  DEFAULT_REGISTRY,
  formatImageName,
  type ImageName,
  imageNameProblem,
  isDigest,
  isDigestLike,
  parseImageName,
} from "./oci-image.ts";
export { gitUrlProblem, type ReferenceProblem, versionProblem } from "./reference-problem.ts";
export * from "./reference/reference.ts";
export type { DistReference } from "./reference/dist.ts";
export type { GitReference } from "./reference/git.ts";
export type { LocalReference } from "./reference/local.ts";
export type { OciReference } from "./reference/oci.ts";
export type { ZipReference } from "./reference/zip.ts";
export * from "./resource.ts";
export { type SocketPlaces, socketPlaces } from "./socket-path.ts";
export * from "./status.ts";
export { decodeSource, decodeUtf8, describeMalformed, findMalformed, type MalformedUtf8 } from "./utf8.ts";
export * from "./value.ts";
export { matchesVariable, VARIABLE_PATTERN } from "./variable-pattern.ts";
export { withDefaults } from "./with-defaults.ts";
