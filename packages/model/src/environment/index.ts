export { Environment, type EnvironmentRecord, MINIMAL_ENV_NAMES } from "./environment.ts";
export { matchesVariable, VARIABLE_PATTERN } from "./variable-pattern.ts";
