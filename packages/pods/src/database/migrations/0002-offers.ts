/** Version 2: jobs that a pod offers to a daemon, and the offers that a daemon has of its pods. */
export const OFFERS: readonly string[] = [
  // The request of a daemon by which the job was given out. One that is repeated because its answer was lost has the same id.
  `ALTER TABLE jobs ADD claim_id text`,
  // Jobs whose offer may have changed, written in the transaction that changed it. Triggers do it while the pod has a daemon.
  `CREATE TABLE outbox (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id bigint NOT NULL
  ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200)`,
  `CREATE FUNCTION note_changed_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO outbox (job_id) SELECT job_id FROM changed ORDER BY job_id;
    RETURN NULL;
  END $$`,
  // The process of the pod that tells the daemon, until its time is over.
  `CREATE TABLE publisher (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    holder text NOT NULL,
    until timestamptz NOT NULL
  )`,
  `CREATE TABLE daemon (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    link_secret text NOT NULL
  )`,
  // session: what the pod says in one go, in batches that are numbered; is_whole: the daemon has all of its offers.
  `CREATE TABLE links (
    pod int PRIMARY KEY,
    session text NOT NULL,
    batch bigint NOT NULL,
    is_whole boolean NOT NULL,
    contacted_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE offer_lanes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pod int NOT NULL,
    project_id bigint NOT NULL,
    tags text[] NOT NULL,
    protected boolean NOT NULL,
    features text[] NOT NULL,
    UNIQUE (pod, project_id, tags, protected, features)
  )`,
  `CREATE TABLE offers (
    job_id bigint PRIMARY KEY,
    pod int NOT NULL,
    lane_id bigint NOT NULL REFERENCES offer_lanes,
    attempt int NOT NULL,
    queued_at timestamptz NOT NULL,
    session text NOT NULL,
    claim_id text,
    reserved_until timestamptz
  ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200)`,
  `CREATE INDEX offers_in_lane ON offers (lane_id, job_id)`,
  `CREATE INDEX offers_of_pod ON offers (pod)`,
  // Jobs that runners of the daemon have, for fairness.
  `CREATE TABLE hands (
    job_id bigint PRIMARY KEY,
    pod int NOT NULL,
    project_id bigint NOT NULL,
    runner_id bigint NOT NULL,
    session text NOT NULL
  ) WITH (fillfactor = 70)`,
];
