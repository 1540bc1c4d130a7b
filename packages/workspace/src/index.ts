export { copyProject, type CopyProgress, type CopyProjectOptions, planCopy, type PlannedCopy } from "./copy-project.ts";
export { findGit, type Git } from "./git.ts";
export { type Snapshot, takeSnapshot } from "./take-snapshot.ts";
export { WorkspaceError } from "./workspace-error.ts";
export { WorkspacePool } from "./workspace-pool.ts";
export { Workspaces } from "./workspaces.ts";
