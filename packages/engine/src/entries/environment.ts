export {
  ambientEnvironment,
  jobVariables,
  logLevel,
  matchingVariables,
  offeredEnvironment,
  secretVariableNames,
} from "../base-environment.ts";
export { type JobVariables, type MarkedVariables, markVariables } from "../job-secrets.ts";
