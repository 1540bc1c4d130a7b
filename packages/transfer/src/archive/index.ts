export { decodeUtf8, foldName, isGitFolder, nameProblem } from "./entry-name.ts";
export { readTar, type ReadTarOptions, type TarEntry } from "./read-tar.ts";
export { readZip, type ReadZipOptions, type ZipContents, type ZipMember } from "./read-zip.ts";
export {
  createTreePlan,
  type EntryClaim,
  quote,
  type TreeNode,
  type TreePlan,
  type TreeRules,
  unsafe,
} from "./tree-plan.ts";
export type { UnusualEntries, UnusualEntry } from "./unusual-entry.ts";
export { type WrittenZip, writeZip, type ZipSource } from "./write-zip.ts";
