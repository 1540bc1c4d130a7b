import {
  BOOLEAN,
  either,
  listOf,
  mapOf,
  mapping,
  type MappingShape,
  NESTED_TEXTS,
  numberFrom,
  oneOf,
  type Shape,
  TEXT,
  TEXTS,
  ANY,
} from "./shape.ts";

const EXIT_CODE: Shape = numberFrom(0, 255);
const EXIT_CODES: Shape = either(EXIT_CODE, listOf(EXIT_CODE));

/** The shape of `allow_failure`. */
export const ALLOW_FAILURE: Shape = either(BOOLEAN, mapping({ exit_codes: EXIT_CODES }, ["exit_codes"]));

/** The shape of `when` of a job. */
export const WHEN: Shape = oneOf("on_success", "on_failure", "always", "manual", "delayed");

const FAILURE: Shape = oneOf(
  "always",
  "api_failure",
  "archived_failure",
  "data_integrity_failure",
  "job_execution_timeout",
  "runner_interrupted",
  "runner_provisioning_timeout",
  "runner_system_failure",
  "runner_unsupported",
  "scheduler_failure",
  "script_failure",
  "stale_schedule",
  "stuck_or_timeout_failure",
  "unknown_failure",
  "unmet_prerequisites",
);

/** The shape of `retry`. */
export const RETRY: Shape = either(
  numberFrom(0, 2),
  mapping({ max: numberFrom(0, 2), when: either(FAILURE, listOf(FAILURE)), exit_codes: EXIT_CODES }),
);

const NEED: Shape = either(
  TEXT,
  mapping({
    artifacts: BOOLEAN,
    job: TEXT,
    optional: BOOLEAN,
    parallel: mapping({ matrix: listOf(mapOf(ANY)) }, ["matrix"]),
    pipeline: TEXT,
    project: TEXT,
    ref: TEXT,
  }),
);

/** The shape of `needs`. */
export const NEEDS: Shape = either(listOf(NEED, { isNested: true }), mapping({ pipeline: TEXT, job: TEXT }));

const CONDITIONS: Readonly<Record<string, Shape>> = {
  if: TEXT,
  changes: either(NESTED_TEXTS, mapping({ paths: NESTED_TEXTS, regexp: TEXT, compare_to: TEXT })),
  exists: either(NESTED_TEXTS, mapping({ paths: NESTED_TEXTS, regexp: TEXT, project: TEXT, ref: TEXT })),
};

/** The shape of `rules` of a job. */
export const RULES: Shape = listOf(
  mapping({
    ...CONDITIONS,
    allow_failure: ALLOW_FAILURE,
    interruptible: BOOLEAN,
    needs: NEEDS,
    start_in: TEXT,
    variables: { is: "variables", scope: "job" },
    when: oneOf("on_success", "on_failure", "always", "manual", "delayed", "never"),
  }),
  { isNested: true, isFilled: true },
);

const AUTO_CANCEL: Shape = mapping({
  on_job_failure: oneOf("none", "all"),
  on_new_commit: oneOf("conservative", "interruptible", "none"),
});

/** The shape of `workflow`. */
export const WORKFLOW: Shape = mapping({
  auto_cancel: AUTO_CANCEL,
  name: TEXT,
  rules: listOf(
    mapping({
      ...CONDITIONS,
      auto_cancel: AUTO_CANCEL,
      variables: { is: "variables", scope: "job" },
      when: oneOf("always", "never"),
    }),
    { isNested: true },
  ),
});

/** The shape of `only` and `except`. */
export const FILTER: Shape = either(
  TEXT,
  NESTED_TEXTS,
  mapping({ refs: NESTED_TEXTS, kubernetes: oneOf("active"), variables: NESTED_TEXTS, changes: NESTED_TEXTS }),
);

const FORWARD: Shape = mapping({ yaml_variables: BOOLEAN, pipeline_variables: BOOLEAN });

const TRIGGER_INCLUDE: MappingShape = mapping({
  artifact: TEXT,
  component: TEXT,
  file: TEXT,
  inputs: mapOf(ANY),
  job: TEXT,
  local: TEXT,
  project: TEXT,
  ref: TEXT,
  remote: TEXT,
  template: TEXT,
});

/** The shape of `trigger`. */
export const TRIGGER: Shape = either(
  TEXT,
  mapping({
    branch: TEXT,
    forward: FORWARD,
    include: either(TEXT, listOf(either(TEXT, TRIGGER_INCLUDE), { max: 3 }), TRIGGER_INCLUDE),
    inputs: mapOf(ANY),
    project: TEXT,
    strategy: oneOf("depend", "mirror"),
  }),
);

/** The shape of `environment`. */
export const ENVIRONMENT: Shape = either(
  TEXT,
  mapping({
    action: oneOf("start", "prepare", "stop", "verify", "access"),
    auto_stop_in: TEXT,
    deployment_tier: TEXT,
    kubernetes: mapOf(ANY),
    name: TEXT,
    on_stop: TEXT,
    url: TEXT,
  }),
);

const LINK: Shape = mapping(
  { name: TEXT, url: TEXT, filepath: TEXT, link_type: oneOf("runbook", "package", "image", "other") },
  ["name", "url"],
);

/** The shape of `release`. */
export const RELEASE: Shape = mapping(
  {
    assets: mapping({ links: listOf(LINK) }),
    description: TEXT,
    milestones: either(TEXTS, TEXT),
    name: TEXT,
    ref: TEXT,
    released_at: TEXT,
    tag_message: TEXT,
    tag_name: TEXT,
  },
  ["tag_name", "description"],
);
