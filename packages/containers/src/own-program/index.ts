export { findLibraries, type Libraries, mappedPrograms } from "./find-libraries.ts";
export { LibrariesError, type LibrariesErrorCode } from "./libraries-error.ts";
export { type CarriedNode, carryNode, launchedNode } from "./own-node.ts";
export { type ElfFacts, readElf } from "./read-elf.ts";
