export { aliasesOf, hostNamesOf } from "./host-names.ts";
export type { JobImage, JobService, PullPolicy } from "./job-image.ts";
export { type ContainerValues, readImage, readServices } from "./read-containers.ts";
