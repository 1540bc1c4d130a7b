export { CONTENT_FILE } from "./reference/download.ts";
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
  type RequestOf,
  type StoredKindName,
} from "./reference/kinds.ts";
export { componentLocation, pathProblem } from "./reference/paths.ts";
export { zipUrlProblem } from "./reference/zip.ts";
