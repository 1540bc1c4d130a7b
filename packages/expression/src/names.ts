export { hintNames, hintRoot } from "./error.ts";
export { findNames, type UsedName } from "./find-names.ts";
