import { StepsError } from "@steps/model";

/**
 * A copy of a project cannot be made: `GIT_FAILED` when git refused something, `WORKSPACE_IO` when a file could not be read or
 * written.
 */
export class WorkspaceError extends StepsError<"GIT_FAILED" | "WORKSPACE_IO"> {}
