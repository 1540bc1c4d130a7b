export {
  type Definition,
  emptySpec,
  type ExecDefinition,
  type InputSpec,
  NAME_PATTERN,
  type OutputSpec,
  type SecretSpec,
  type Spec,
  type SpecDefinition,
  STEP_NAME_PATTERN,
  type StepControl,
  type StepInvocation,
  type StepsDefinition,
} from "./definition.ts";
export type { GithubInvocation, GithubPart } from "./github.ts";
