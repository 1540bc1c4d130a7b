/** Version 1: a pod, its runners, and the jobs with their queue. Ids come from sequences that each pod has for itself. */
export const JOBS: readonly string[] = [
  `CREATE TABLE pod (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    number int NOT NULL,
    uuid text NOT NULL DEFAULT gen_random_uuid()::text,
    keys jsonb,
    registration_token_hash text,
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE groups (id bigint PRIMARY KEY, path text NOT NULL UNIQUE)`,
  // group_ids: the groups that the project is in, the outermost first.
  `CREATE TABLE projects (
    id bigint PRIMARY KEY,
    path text NOT NULL UNIQUE,
    group_ids bigint[] NOT NULL,
    instance_runners boolean NOT NULL DEFAULT true,
    timeout_s int,
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  // version counts the changes of what decides which jobs the runner takes.
  `CREATE TABLE runners (
    id bigint PRIMARY KEY,
    kind smallint NOT NULL CHECK (kind IN (1, 2, 3)),
    group_id bigint REFERENCES groups,
    description text NOT NULL DEFAULT '',
    maintenance_note text NOT NULL DEFAULT '',
    tags text[] NOT NULL DEFAULT '{}',
    run_untagged boolean NOT NULL,
    locked boolean NOT NULL DEFAULT false,
    protected boolean NOT NULL DEFAULT false,
    paused boolean NOT NULL DEFAULT false,
    maximum_timeout_s int,
    token_hash text NOT NULL UNIQUE,
    token_obtained_at timestamptz NOT NULL DEFAULT now(),
    token_expires_at timestamptz,
    old_token_hash text UNIQUE,
    old_token_until timestamptz,
    version int NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE runner_projects (
    runner_id bigint NOT NULL REFERENCES runners ON DELETE CASCADE,
    project_id bigint NOT NULL REFERENCES projects,
    PRIMARY KEY (runner_id, project_id)
  )`,
  `CREATE TABLE managers (
    id bigint PRIMARY KEY,
    runner_id bigint NOT NULL REFERENCES runners ON DELETE CASCADE,
    system_id text NOT NULL,
    info jsonb NOT NULL DEFAULT '{}',
    contacted_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (runner_id, system_id)
  )`,
  `CREATE TABLE pipelines (
    id bigint PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES projects,
    name text NOT NULL DEFAULT '',
    ref text NOT NULL DEFAULT '',
    sha text NOT NULL DEFAULT '',
    state text NOT NULL,
    cancelled boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz
  )`,
  // attempt: how often the job was given out, which fences the writes of earlier runners. offers: the same, without those that
  // never reached a runner. accepted_attempt: the one that a runner has confirmed. bound: what was known only when the job's
  // needs had ended.
  `CREATE TABLE jobs (
    id bigint PRIMARY KEY,
    pipeline_id bigint NOT NULL REFERENCES pipelines,
    project_id bigint NOT NULL REFERENCES projects,
    name text NOT NULL,
    stage text NOT NULL,
    stage_index int NOT NULL,
    position int NOT NULL,
    state text NOT NULL,
    run_when text NOT NULL,
    start_in_s int,
    due_at timestamptz,
    needs text[],
    dependencies text[],
    allow_failure boolean NOT NULL,
    allow_failure_codes int[],
    retry_max int NOT NULL DEFAULT 0,
    retry_when text[],
    tried int NOT NULL DEFAULT 1,
    retried boolean NOT NULL DEFAULT false,
    tags text[] NOT NULL,
    protected boolean NOT NULL,
    features text[] NOT NULL,
    timeout_s int NOT NULL,
    payload jsonb NOT NULL,
    bound jsonb NOT NULL DEFAULT '{}',
    dotenv jsonb NOT NULL DEFAULT '{}',
    attempt int NOT NULL DEFAULT 0,
    offers int NOT NULL DEFAULT 0,
    accepted_attempt int,
    runner_id bigint,
    manager_id bigint,
    cancel_gracefully boolean NOT NULL DEFAULT false,
    lease_expires_at timestamptz,
    granted_timeout_s int,
    created_at timestamptz NOT NULL DEFAULT now(),
    queued_at timestamptz,
    assigned_at timestamptz,
    started_at timestamptz,
    seen_at timestamptz,
    finished_at timestamptz,
    failure_reason text,
    exit_code int,
    trace_size bigint NOT NULL DEFAULT 0,
    trace_crc bigint NOT NULL DEFAULT 0,
    trace_resets int NOT NULL DEFAULT 0,
    trace_damaged boolean NOT NULL DEFAULT false
  )`,
  `CREATE INDEX jobs_of_pipeline ON jobs (pipeline_id)`,
  `CREATE INDEX jobs_in_hand ON jobs (state) WHERE state IN ('assigned', 'running', 'canceling')`,
  // Pending jobs that the same runners may take share a lane, so that a claim looks at lanes and not at jobs.
  `CREATE TABLE lanes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES projects,
    tags text[] NOT NULL,
    protected boolean NOT NULL,
    features text[] NOT NULL,
    UNIQUE (project_id, tags, protected, features)
  )`,
  `CREATE TABLE pending_jobs (
    job_id bigint PRIMARY KEY REFERENCES jobs,
    lane_id bigint NOT NULL REFERENCES lanes,
    queued_at timestamptz NOT NULL DEFAULT now()
  ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200)`,
  `CREATE INDEX pending_in_lane ON pending_jobs (lane_id, job_id)`,
  `CREATE TABLE active_jobs (
    job_id bigint PRIMARY KEY REFERENCES jobs,
    project_id bigint NOT NULL,
    runner_id bigint NOT NULL,
    runner_kind smallint NOT NULL
  ) WITH (fillfactor = 70)`,
  `CREATE INDEX active_of_project ON active_jobs (project_id)`,
  // The bytes of traces where several processes serve one pod; a single process keeps them in files.
  `CREATE TABLE trace_chunks (
    job_id bigint NOT NULL,
    attempt int NOT NULL,
    resets int NOT NULL,
    start bigint NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (job_id, attempt, resets, start)
  )`,
  `CREATE TABLE artifacts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id bigint NOT NULL REFERENCES jobs,
    attempt int NOT NULL,
    type text NOT NULL,
    format text NOT NULL,
    filename text NOT NULL,
    size bigint NOT NULL,
    sha256 text NOT NULL,
    object text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    UNIQUE (job_id, type)
  )`,
  `CREATE INDEX artifacts_by_expiry ON artifacts (expires_at) WHERE expires_at IS NOT NULL`,
  // Events that must be counted once, whatever process they happened in.
  `CREATE TABLE counters (name text PRIMARY KEY, value bigint NOT NULL DEFAULT 0)`,
];
