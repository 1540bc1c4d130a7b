export { BuiltinError, type BuiltinErrorCode } from "./builtin-error.ts";
export type { BuiltinPlace } from "./images/builtin-images.ts";
export { runBuiltin } from "./run-builtin.ts";
export { keepFolder, shareArtifacts, type StoredJob } from "./gitlab/artifacts/foreign-artifacts.ts";
export { removeArtifacts, removeExpired } from "./gitlab/artifacts/expiry.ts";
export { type CollectedStores, collectStores, type CollectStoresOptions } from "./gitlab/artifacts/collect-stores.ts";
export { readArtifact, type ReadArtifactOptions } from "./gitlab/artifacts/read-artifact.ts";
export { storedVariables } from "./gitlab/artifacts/stored-variables.ts";
export { artifactsToken, unpackArtifacts, type UnpackOptions } from "./gitlab/artifacts/unpack-artifacts.ts";
