export type { GitRequest } from "./reference/git.ts";
export type { ComponentKind, ComponentName, FetchedKind, ReferenceKind, RequestPlace } from "./reference/kind.ts";
export {
  type ComponentKindName,
  componentKindOf,
  type ComponentReference,
  type ComponentRequest,
  fetchedKindOf,
  isComponentReference,
  isNamed,
  isStoredKind,
  kindOf,
  type NamedReference,
  ofPath,
  protocolOf,
  recordedKindOf,
  type StoredKindName,
} from "./reference/kinds.ts";
export type { LocalRequest } from "./reference/local.ts";
export type { OciRequest } from "./reference/oci.ts";
export { componentLocation, pathProblem } from "./reference/paths.ts";
export { type ZipRequest, zipUrlProblem } from "./reference/zip.ts";
