export {
  loadCiSource,
  type LoadedSource,
  type LoadOptions,
  type LoadTools,
  type ReadArtifactOfJob,
  type SourcePlace,
} from "./load-ci-source.ts";
export {
  type GivenSituation,
  type LocalSituation,
  type LocalSituationOptions,
  readLocalSituation,
} from "./local-situation.ts";
export { type IncludeOptions, type IncludePlace, openIncludes } from "./open-includes.ts";
export { type FolderGit, readRepository, type Repository } from "./read-repository.ts";
