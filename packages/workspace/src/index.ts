export { copyProject, type CopyProjectOptions } from "./copy-project.ts";
export { WorkspaceError } from "./workspace-error.ts";
export { Workspaces } from "./workspaces.ts";
