export { decodeUtf8, nameProblem } from "./entry-name.ts";
export { readTar, type ReadTarOptions, type TarEntry } from "./read-tar.ts";
export { createTreePlan, type EntryClaim, quote, type TreeNode, type TreePlan, unsafe } from "./tree-plan.ts";
export type { UnusualEntries, UnusualEntry } from "./unusual-entry.ts";
