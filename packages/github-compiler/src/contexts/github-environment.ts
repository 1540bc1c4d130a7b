import { toText } from "@steps/github-language";
import { createObject, type Value } from "@steps/model";

/** The keys of the context `github` that are variables too. `token` and `event` never are. */
const GITHUB_KEYS: readonly string[] = [
  "action",
  "action_path",
  "action_ref",
  "action_repository",
  "actor",
  "actor_id",
  "api_url",
  "artifacts",
  "artifacts_list",
  "base_ref",
  "env",
  "event_name",
  "event_path",
  "graphql_url",
  "head_ref",
  "job",
  "output",
  "path",
  "ref",
  "ref_name",
  "ref_protected",
  "ref_type",
  "repository",
  "repository_id",
  "repository_owner",
  "repository_owner_id",
  "retention_days",
  "run_attempt",
  "run_id",
  "run_number",
  "server_url",
  "sha",
  "state",
  "step_summary",
  "triggering_actor",
  "workflow",
  "workflow_ref",
  "workflow_sha",
  "workspace",
];

const GITHUB_NAMES = GITHUB_KEYS.map((key) => [key, `GITHUB_${key.toUpperCase()}`] as const);

/**
 * The variables `GITHUB_*` and `RUNNER_*` of a step: what the contexts have of GitHub's list, each with its text. They win over
 * everything that an author sets. A value of a context that is `null` gives no variable.
 */
export function githubEnvironment(
  github: Readonly<Record<string, Value>>,
  runner: Readonly<Record<string, Value>>,
): Record<string, string> {
  const environment = createObject<string>();
  for (const [key, name] of GITHUB_NAMES) setScalar(environment, name, github[key]);
  for (const [key, value] of Object.entries(runner)) setScalar(environment, `RUNNER_${key.toUpperCase()}`, value);
  return environment;
}

function setScalar(environment: Record<string, string>, name: string, value: Value | undefined): void {
  if (value !== undefined && value !== null && typeof value !== "object") environment[name] = toText(value);
}
