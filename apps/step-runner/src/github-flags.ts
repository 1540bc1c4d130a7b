import { statSync } from "node:fs";
import { type CommandLine, type Flags, grouped, UsageError } from "@steps/console";
import type { GithubOptions } from "@steps/engine";
import type { Value } from "@steps/model";
import { absolute } from "./absolute.ts";
import { readText } from "./read-source.ts";

const MAX_EVENT_BYTES = 16 * 1024 * 1024;

/** The flags about the GitHub actions of a job. */
export const githubFlags: Flags = grouped("GitHub actions", {
  "github-token": {
    type: "string",
    placeholder: "TOKEN",
    summary: "github.token in actions, which is empty otherwise; a job's own token is never taken for it",
    env: "STEP_RUNNER_GITHUB_TOKEN",
  },
  "github-server-url": {
    type: "string",
    placeholder: "URL",
    summary: "GITHUB_SERVER_URL of actions, and what follows from it; https://github.com by default",
    env: "STEP_RUNNER_GITHUB_SERVER_URL",
  },
  "event-name": {
    type: "string",
    placeholder: "NAME",
    summary: "github.event_name in actions; by default what started the pipeline",
  },
  "event-file": { type: "string", placeholder: "FILE", summary: "github.event in actions, as JSON" },
  "native-checkout": {
    type: "boolean",
    default: true,
    summary: "actions/checkout of the job's own project is the runner's own, without github.com",
    env: "STEP_RUNNER_NATIVE_CHECKOUT",
  },
  "summary-file": {
    type: "string",
    placeholder: "FILE",
    summary: "Add the Markdown summaries of actions to a file",
    env: "STEP_RUNNER_SUMMARY_FILE",
  },
  "artifact-dir": {
    type: "string",
    placeholder: "DIR",
    summary: "Where artifacts that actions upload go; a folder of the run in the state directory by default",
    env: "STEP_RUNNER_ARTIFACT_DIR",
  },
});

/** Reads the options for GitHub actions from the flags. @throws {UsageError} */
export function githubOptions(line: CommandLine): GithubOptions {
  const [token, serverUrl, eventName] = ["github-token", "github-server-url", "event-name"].map((name) =>
    line.string(name),
  );
  const [summaryFile, artifactDir, eventFile] = ["summary-file", "artifact-dir", "event-file"].map((name) =>
    line.string(name),
  );
  return {
    token,
    ...(serverUrl === undefined ? {} : serverUrls(serverUrl)),
    ...(eventName === undefined ? {} : { eventName }),
    ...(eventFile === undefined ? {} : { event: readEvent(eventFile) }),
    ...(summaryFile === undefined ? {} : { summaryFile: absolute(summaryFile) }),
    ...(artifactDir === undefined ? {} : { artifactDir: absolute(artifactDir) }),
    hasNativeCheckout: line.boolean("native-checkout"),
  };
}

function serverUrls(text: string): Pick<GithubOptions, "serverUrl" | "apiUrl" | "graphqlUrl"> {
  const serverUrl = text.replace(/\/+$/, "");
  if (!/^https?:\/\/[^/]/.test(serverUrl) || !URL.canParse(serverUrl)) {
    throw new UsageError(
      `--github-server-url is "${text}"`,
      "It takes the address of a server: https://github.example.com.",
    );
  }
  if (serverUrl === "https://github.com") return { serverUrl };
  return { serverUrl, apiUrl: `${serverUrl}/api/v3`, graphqlUrl: `${serverUrl}/api/graphql` };
}

function readEvent(path: string): Value {
  if (statSync(path).size > MAX_EVENT_BYTES) throw new UsageError(`The event "${path}" is too large`);
  try {
    const event: unknown = JSON.parse(readText(path));
    if (typeof event === "object" && event !== null && !Array.isArray(event)) return event as Value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new UsageError(`The event "${path}" is no JSON object`);
}
