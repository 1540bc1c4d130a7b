import type { Route } from "../http/context.ts";
import type { ServiceLimits } from "../options.ts";
import type { Budget } from "../store/budget.ts";
import type { WorkFolder } from "../store/work-folder.ts";
import type { ArtifactRegistry } from "./artifact-registry.ts";

/** What both protocols of artifacts are given. */
export interface ArtifactParts {
  readonly dir: string;
  readonly work: WorkFolder;
  readonly budget: Budget;
  readonly registry: ArtifactRegistry;
  readonly limits: ServiceLimits;
  readonly runId: string;
  readonly jobId: string;
}

/** The routes of one protocol of artifacts, with the uploads that it has begun. */
export interface ArtifactProtocol {
  readonly routes: readonly Route[];
  /** Gives up uploads that nobody has written to for long. */
  readonly prune: () => Promise<void>;
  readonly close: () => Promise<void>;
}
