import type { Value } from "@steps/model";

/** The facts that an event gives about the run that it starts. A fact that it does not give is absent. */
export interface EventFacts {
  readonly eventName?: string;
  readonly ref?: string;
  readonly sha?: string;
  readonly headRef?: string;
  readonly baseRef?: string;
  readonly actor?: string;
  readonly repository?: string;
}

/** Reads an event in GitHub's form, as https://docs.github.com/webhooks/webhook-events-and-payloads describes it. */
export function eventFacts(event: Value | undefined, eventName: string | undefined): EventFacts {
  if (event === undefined) return {};
  const name = eventName ?? nameOf(event);
  const repository = textAt(event, "repository", "full_name");
  const actor = textAt(event, "sender", "login") ?? textAt(event, "pusher", "name");
  return {
    eventName: name,
    repository,
    actor,
    ...(name?.startsWith("pull_request") === true ? ofPullRequest(event, name) : ofRef(event)),
  };
}

function nameOf(event: Value): string | undefined {
  if (textAt(event, "pull_request", "head", "ref") !== undefined) return "pull_request";
  return isRecord(at(event, "inputs")) ? "workflow_dispatch" : undefined;
}

function ofPullRequest(event: Value, name: string): EventFacts {
  const request = at(event, "pull_request") ?? null;
  const number = at(event, "number") ?? at(request, "number");
  const headRef = textAt(request, "head", "ref");
  const baseRef = textAt(request, "base", "ref");
  // Such a run is of the branch that is merged into, as GitHub trusts nothing else with its secrets.
  const isTarget = name === "pull_request_target";
  const merged = textAt(request, "merge_commit_sha") ?? textAt(request, "head", "sha");
  const sha = isTarget ? textAt(request, "base", "sha") : merged;
  const branch = baseRef === undefined ? undefined : `refs/heads/${baseRef}`;
  const ref = isTarget ? branch : typeof number === "number" ? `refs/pull/${number}/merge` : undefined;
  return {
    ref,
    sha,
    headRef,
    baseRef,
  };
}

function ofRef(event: Value): EventFacts {
  const tag = textAt(event, "release", "tag_name");
  const given = textAt(event, "ref");
  const ref = tag === undefined ? given : `refs/tags/${tag}`;
  const sha = textAt(event, "after");
  const isRef = ref?.startsWith("refs/") === true;
  return { ...(isRef ? { ref } : {}), ...(sha === undefined || /^0+$/.test(sha) ? {} : { sha }) };
}

function isRecord(value: Value | undefined): value is Readonly<Record<string, Value>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function at(value: Value, name: string): Value | undefined {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function textAt(value: Value, ...path: readonly string[]): string | undefined {
  const found = path.reduce<Value | undefined>((part, name) => (part === undefined ? part : at(part, name)), value);
  return typeof found === "string" && found !== "" ? found : undefined;
}
