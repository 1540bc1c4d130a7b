import { StepsError } from "@steps/model";

/** The codes of `BuildError`. They do not change; docs/reference/errors.md lists them. */
export type BuildErrorCode =
  /** Files that are not there, or that no image can hold. */
  | "FILES_INVALID"
  /** A version, platform or label that no image can have. */
  | "IMAGE_INVALID"
  /** The file to be published is no image in the OCI layout, or an image cannot be read. */
  | "ARCHIVE_INVALID"
  | "ARCHIVE_TOO_LARGE"
  | "AUTH_FAILED"
  /** Bytes are not those that their digest promises. */
  | "DIGEST_MISMATCH"
  /** The image that is to be built upon or saved is not there. */
  | "REFERENCE_NOT_FOUND"
  /** The version is there already, with other content. */
  | "VERSION_EXISTS"
  /** The registry took something in another way than it has to. */
  | "PUBLISH_FAILED";

/** An image could not be built or published. */
export class BuildError extends StepsError<BuildErrorCode> {}
