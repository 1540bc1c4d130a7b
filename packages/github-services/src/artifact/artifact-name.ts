import { badRequest } from "../http/http-error.ts";

/** The greatest length in bytes of one name in a path, as common file systems have it. */
const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 4096;
/** The characters that GitHub's own clients refuse, because NTFS does, and control characters. */
const FORBIDDEN = /[":<>|*?\u0000-\u001F\u007F]/;

/** Refuses a name that could not be a file's, or would be one elsewhere. Room is left for `-2.zip`. */
export function checkArtifactName(name: string): void {
  if (/[\\/]/.test(name)) throw badRequest("The name of an artifact may not contain slashes");
  checkSegment(name, MAX_NAME_BYTES - 16);
}

/** The names of the folders and the file of an item, below its artifact: `NAME/dir/file` is `["dir", "file"]`. */
export function itemSegments(artifactName: string, itemPath: string): readonly string[] {
  if (Buffer.byteLength(itemPath) > MAX_PATH_BYTES) throw badRequest("The path of the item is too long");
  // A client on Windows sends its own separators.
  const [first, ...rest] = itemPath.replaceAll("\\", "/").split("/");
  if (first !== artifactName || rest.length === 0) throw badRequest("The item does not belong to this artifact");
  for (const segment of rest) checkSegment(segment, MAX_NAME_BYTES);
  return rest;
}

function checkSegment(segment: string, maxBytes: number): void {
  if (segment === "" || segment === "." || segment === "..") throw badRequest("A name is empty or points elsewhere");
  if (FORBIDDEN.test(segment)) throw badRequest("A name contains a character that not every file system can hold");
  if (Buffer.byteLength(segment) > maxBytes) throw badRequest("A name is too long");
}
