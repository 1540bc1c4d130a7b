import type { ArtifactRegistry } from "./artifact/artifact-registry.ts";
import type { OnNote, ServiceLimits } from "./options.ts";

/** The folders and the limits of the services of one job. */
export interface ServicesOptions {
  /** Saved caches, kept from job to job and shared by all processes that name the same folder. Made when missing. */
  readonly cacheDir: string;
  /** Artifacts of this job: `NAME/` with files (v3), `NAME.zip` or the single file (v4). Made when missing. */
  readonly artifactDir: string;
  /**
   * The artifacts of the jobs before this one, which may be downloaded and which this job adds to; those of v4 alone. Default:
   * none, and those of this job go with it.
   */
  readonly artifacts?: ArtifactRegistry;
  readonly runId: string;
  readonly jobId: string;
  /** Caches are only found under the scope that saved them: the name of a repository. Default: one common scope. */
  readonly scope?: string;
  /** Address to listen at and to name in URLs. Default `127.0.0.1`; the bridge's address for jobs in containers. */
  readonly host?: string;
  readonly limits?: Partial<ServiceLimits>;
  readonly onNote?: OnNote;
}
