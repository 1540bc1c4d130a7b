export { hintNames, hintRoot } from "./error.ts";
export { findNames, findRoots, type UsedName } from "./find-names.ts";
export { FUNCTION_NAMES } from "./function-names.ts";
