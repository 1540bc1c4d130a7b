export { type ArtifactRegistry, createArtifactRegistry, type StoredArtifact } from "./artifact/artifact-registry.ts";
export { isServicesError, ServicesError } from "./error.ts";
export type { ServicesErrorCode } from "./error.ts";
export { DEFAULT_LIMITS } from "./options.ts";
export type { NoteCode, OnNote, ServiceLimits } from "./options.ts";
export type { ServicesOptions } from "./services-options.ts";
export { startServices } from "./start-services.ts";
export type { Artifact, Services } from "./start-services.ts";
