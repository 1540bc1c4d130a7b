import { createObject, type Value } from "@steps/model";
import type { GithubFacts } from "./github-facts.ts";
import type { Ref } from "./read-ref.ts";
import type { ReadVariable } from "./variable-reader.ts";

/** The facts besides variables from which an event is made. */
export interface MadeOf {
  readonly facts: GithubFacts;
  readonly ref: Ref;
  readonly eventName: string;
  readonly repository: string;
  readonly sha: string;
  readonly actor: string;
}

type Part = Value | undefined;

/** The event that started the job, as far as CI variables tell it; what they do not tell is left out. */
export function readEvent(read: ReadVariable, event: MadeOf): Value {
  const repository = readRepository(read, event);
  const sender = event.actor === "" ? undefined : object({ login: event.actor });
  const common = { repository, sender };
  switch (event.eventName) {
    case "pull_request":
      return object({ ...common, ...readRequest(read, event) }) ?? {};
    case "push":
      return object({ ...common, ...readPush(read, event) }) ?? {};
    case "workflow_dispatch":
      return object({ ...common, ref: event.ref.ref, workflow: event.facts.workflowPath }) ?? {};
    case "repository_dispatch":
      return object({ ...common, branch: event.ref.name }) ?? {};
    default:
      return object(common) ?? {};
  }
}

// Nothing is an empty object rather than one without meaning: `undefined`, empty texts and empty objects are left out.
function object(parts: Readonly<Record<string, Part>>): Value | undefined {
  const known = Object.entries(parts).filter((entry): entry is [string, Value] => {
    return entry[1] !== undefined && entry[1] !== "";
  });
  return known.length === 0 ? undefined : createObject(known);
}

function readRepository(read: ReadVariable, { facts, repository: fullName }: MadeOf): Part {
  if (fullName === "") return undefined;
  const slash = fullName.lastIndexOf("/");
  const url = read("CI_PROJECT_URL");
  return object({
    id: numberOf(read("CI_PROJECT_ID")),
    name: fullName.slice(slash + 1),
    full_name: fullName,
    owner: object({ login: read("CI_PROJECT_NAMESPACE") ?? fullName.slice(0, Math.max(0, slash)) }),
    default_branch: read("CI_DEFAULT_BRANCH") ?? facts.gitFacts?.defaultBranch,
    html_url: url,
    clone_url: url === undefined ? undefined : `${url}.git`,
    visibility: read("CI_PROJECT_VISIBILITY"),
  });
}

function readPush(read: ReadVariable, { ref, sha, actor }: MadeOf): Record<string, Part> {
  const commit = readCommit(read, sha);
  return {
    ref: ref.ref,
    before: read("CI_COMMIT_BEFORE_SHA"),
    after: sha,
    head_commit: commit,
    commits: commit === undefined ? undefined : [commit],
    pusher: object({ name: actor }),
  };
}

function readCommit(read: ReadVariable, sha: string): Part {
  if (sha === "") return undefined;
  const [, name, email] = /^(.*?)\s*<([^>]*)>$/s.exec(read("CI_COMMIT_AUTHOR") ?? "") ?? [];
  return object({
    id: sha,
    message: read("CI_COMMIT_MESSAGE"),
    timestamp: read("CI_COMMIT_TIMESTAMP"),
    author: object({ name, email }),
  });
}

function readRequest(read: ReadVariable, { ref, sha }: MadeOf): Record<string, Part> {
  const number = numberOf(ref.request);
  const target = read("CI_MERGE_REQUEST_PROJECT_URL");
  const labels = read("CI_MERGE_REQUEST_LABELS")?.split(",") ?? [];
  return {
    // No variable tells which action it was.
    action: "synchronize",
    number,
    pull_request: object({
      number,
      title: read("CI_MERGE_REQUEST_TITLE"),
      body: read("CI_MERGE_REQUEST_DESCRIPTION"),
      state: "open",
      draft: read("CI_MERGE_REQUEST_DRAFT") === "true",
      html_url:
        target === undefined || ref.request === undefined ? undefined : `${target}/-/merge_requests/${ref.request}`,
      base: object({
        ref: read("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
        sha: read("CI_MERGE_REQUEST_TARGET_BRANCH_SHA") ?? read("CI_MERGE_REQUEST_DIFF_BASE_SHA"),
        repo: object({ full_name: read("CI_MERGE_REQUEST_PROJECT_PATH") }),
      }),
      head: object({
        ref: read("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"),
        sha: read("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") ?? sha,
        repo: object({ full_name: read("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH") }),
      }),
      labels: labels.map((name): Value => createObject([["name", name.trim()]])),
    }),
  };
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
