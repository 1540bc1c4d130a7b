export { aliasesOf, hostNamesOf } from "./host-names.ts";
export type { JobImage, JobService, PullPolicy } from "./job-image.ts";
export { readImage, readServices } from "./read-containers.ts";
