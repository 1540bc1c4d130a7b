import { toText } from "@steps/github-language";
import { createObject, mapObject, type Value } from "@steps/model";
import { readEvent } from "./read-event.ts";
import type { GithubFacts } from "./github-facts.ts";
import { type EventFacts, eventFacts } from "./event-facts.ts";
import { readRef, refOf, type Ref } from "./read-ref.ts";
import { firstOf, readOnce, type ReadVariable } from "./variable-reader.ts";

/** The contexts `github` and `runner`, made from environment variables. */
export interface GithubContexts {
  /** With `event` and `token`, which are no environment variables. */
  readonly github: Readonly<Record<string, Value>>;
  readonly runner: Readonly<Record<string, Value>>;
  /** The contents of the file at `GITHUB_EVENT_PATH`. */
  readonly event: Value;
}

/** By `CI_PIPELINE_SOURCE`; every other source is a push. */
const EVENTS: Readonly<Record<string, string>> = {
  push: "push",
  merge_request_event: "pull_request",
  schedule: "schedule",
  web: "workflow_dispatch",
  api: "workflow_dispatch",
  trigger: "repository_dispatch",
  pipeline: "repository_dispatch",
  parent_pipeline: "repository_dispatch",
};

const SYSTEMS: Readonly<Record<string, string>> = { linux: "Linux", win32: "Windows", darwin: "macOS" };
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "X64", ia32: "X86", arm: "ARM", arm64: "ARM64" };

/**
 * The contexts `github` and `runner` of a job, from its CI variables. `variables` is asked for each at most once, and only for
 * those that matter: nothing of merge requests is read for a tag.
 */
export function githubContexts(variables: ReadVariable, facts: GithubFacts): GithubContexts {
  const read = readOnce(variables);
  const told = eventFacts(facts.event, facts.eventName);
  const ref = told.ref === undefined ? readRef(read, facts.gitFacts) : refOf(told.ref);
  const eventName = told.eventName ?? facts.eventName ?? eventOf(read("CI_PIPELINE_SOURCE"));
  const actor = facts.actor ?? told.actor ?? read("GITLAB_USER_LOGIN") ?? facts.gitFacts?.user ?? "";
  const found = readRepository(read, facts, told);
  const { repository = "", sha = "" } = found;
  const known = { ...found, ...readRun(read, facts, { ref, repository, sha, actor }) };
  const made = facts.event ?? readEvent(read, { facts, ref, eventName, repository, sha, actor });
  const event = eventName === "workflow_dispatch" ? withInputs(made, facts.inputs) : made;
  const github = createObject<Value>(Object.entries(known));
  Object.assign(github, {
    ref: ref.ref,
    ref_name: ref.name,
    ref_type: ref.type,
    ref_protected: read("CI_COMMIT_REF_PROTECTED") === "true",
    base_ref: told.baseRef ?? (ref.request === undefined ? "" : (read("CI_MERGE_REQUEST_TARGET_BRANCH_NAME") ?? "")),
    head_ref: told.headRef ?? (ref.request === undefined ? "" : (read("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME") ?? "")),
    event_name: eventName,
    event,
  });
  return { github, runner: readRunner(read, facts), event };
}

function eventOf(source: string | undefined): string {
  return source !== undefined && Object.hasOwn(EVENTS, source) ? (EVENTS[source] ?? "push") : "push";
}

function withInputs(event: Value, inputs: GithubFacts["inputs"]): Value {
  if (inputs === undefined || typeof event !== "object" || event === null || Object.hasOwn(event, "inputs"))
    return event;
  return createObject([...Object.entries(event), ["inputs", mapObject(inputs, (value): Value => toText(value))]]);
}

function readRepository(read: ReadVariable, { gitFacts = {} }: GithubFacts, told: EventFacts): Record<string, string> {
  const repository = told.repository ?? read("CI_PROJECT_PATH") ?? gitFacts.repository ?? "";
  const owner = firstOf(read, "CI_PROJECT_NAMESPACE", "CI_PROJECT_ROOT_NAMESPACE");
  return {
    repository,
    repository_id: read("CI_PROJECT_ID") ?? "",
    repository_owner: owner ?? repository.slice(0, Math.max(0, repository.lastIndexOf("/"))),
    repository_owner_id: read("CI_PROJECT_NAMESPACE_ID") ?? "",
    sha: told.sha ?? read("CI_COMMIT_SHA") ?? gitFacts.sha ?? "",
  };
}

interface KnownRun {
  readonly ref: Ref;
  readonly repository: string;
  readonly sha: string;
  readonly actor: string;
}

function readRun(
  read: ReadVariable,
  facts: GithubFacts,
  { ref, repository, sha, actor }: KnownRun,
): Record<string, string> {
  const path = facts.workflowPath ?? read("CI_CONFIG_PATH") ?? "";
  return {
    actor,
    triggering_actor: actor,
    actor_id: read("GITLAB_USER_ID") ?? "",
    workflow: facts.workflow ?? read("CI_PIPELINE_NAME") ?? path,
    workflow_ref: path === "" ? "" : `${repository === "" ? "" : `${repository}/`}${path}@${ref.ref}`,
    workflow_sha: sha,
    run_id: read("CI_PIPELINE_ID") ?? "1",
    run_number: read("CI_PIPELINE_IID") ?? "1",
    run_attempt: "1",
    job: facts.job ?? firstOf(read, "CI_JOB_NAME_SLUG", "CI_JOB_NAME") ?? "",
    workspace: facts.workspace,
    server_url: facts.serverUrl ?? "https://github.com",
    api_url: facts.apiUrl ?? "https://api.github.com",
    graphql_url: facts.graphqlUrl ?? "https://api.github.com/graphql",
    token: facts.token ?? "",
    retention_days: "90",
    ...(facts.eventPath === undefined ? {} : { event_path: facts.eventPath }),
  };
}

function readRunner(read: ReadVariable, facts: GithubFacts): Record<string, Value> {
  const isDebug = facts.isDebug === true || read("CI_DEBUG_TRACE") === "true";
  return createObject<Value>([
    ["name", read("CI_RUNNER_DESCRIPTION") ?? facts.runnerName],
    ["os", SYSTEMS[facts.os] ?? facts.os],
    ["arch", ARCHITECTURES[facts.arch] ?? facts.arch],
    ["temp", facts.runnerTemp],
    ["tool_cache", firstOf(read, "RUNNER_TOOL_CACHE", "AGENT_TOOLSDIRECTORY") ?? facts.toolCache],
    ["workspace", parentOf(facts.workspace)],
    ["environment", "self-hosted"],
    ...(isDebug ? ([["debug", "1"]] as const) : []),
  ]);
}

function parentOf(path: string): string {
  const trimmed = path.replace(/[/\\]+$/, "");
  const end = Math.max(trimmed.lastIndexOf("/"), trimmed.lastIndexOf("\\"));
  return end <= 0 ? path.slice(0, 1) : trimmed.slice(0, end);
}
