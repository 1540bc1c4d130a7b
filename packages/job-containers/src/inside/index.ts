export type { AwaitedService, Preparation, Prepared, Restoration } from "./preparation.ts";
export { prepareContainer, restoreFolders } from "./prepare-container.ts";
