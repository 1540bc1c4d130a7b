/** Facts about a job. */
export interface JobInfo {
  readonly id: number;
  readonly name: string;
  readonly stage: string;
  readonly pipeline_id: number;
  readonly project_id: number;
  readonly project_name: string;
  readonly project_full_path: string;
  readonly namespace_id: number;
  readonly root_namespace_id: number;
  readonly organization_id: number;
  readonly instance_id: string;
  readonly instance_uuid: string;
  readonly user_id: number;
  readonly scoped_user_id: number | null;
  readonly time_in_queue_seconds: number;
  /** A text: a number, or `+Inf`. */
  readonly project_jobs_running_on_instance_runners_count: string;
  readonly queue_size: number;
  readonly queue_depth: number;
}

/** The commit to check out. */
export interface GitInfo {
  /** With the user `gitlab-ci-token` and the job's token as password, as GitLab writes it. */
  readonly repo_url: string;
  /** `sha1` or `sha256`. */
  readonly repo_object_format: string;
  readonly ref: string;
  readonly sha: string;
  readonly before_sha: string;
  /** `branch` or `tag`. */
  readonly ref_type: string;
  readonly refspecs: readonly string[];
  /** 0: the whole history. */
  readonly depth: number;
  readonly protected: boolean | null;
}

/** The runner's part in a payload. */
export interface RunnerInfoOfJob {
  /** Seconds that the job may take; 0: 7200. */
  readonly timeout: number;
  readonly uuid: string;
  readonly runner_session_url: string | null;
}

/** The features of the server that concern the job. */
export interface JobFeatures {
  /** Whether the trace may have sections that fold. */
  readonly trace_sections: boolean;
  /** The starts of tokens that are masked wherever they turn up. */
  readonly token_mask_prefixes: readonly string[];
  readonly failure_reasons: readonly string[];
  readonly tracing?: Readonly<Record<string, unknown>> | undefined;
}
