import { statSync } from "node:fs";
import { converted, flag, grouped, type OptionsOf, UsageError } from "@steps/console";
import type { GithubOptions } from "@steps/engine/github";
import type { Value } from "@steps/model";
import { readText } from "../files/read-source.ts";

const MAX_EVENT_BYTES = 16 * 1024 * 1024;

/** The flags about the GitHub actions of a job. */
export const githubFlags = grouped("GitHub actions", {
  "github-token": flag.text({
    placeholder: "TOKEN",
    summary: "github.token in actions, which is empty otherwise; a job's own token is never taken for it",
    env: "STEP_RUNNER_GITHUB_TOKEN",
  }),
  "github-server-url": converted(
    flag.text({
      placeholder: "URL",
      summary: "GITHUB_SERVER_URL of actions, and what follows from it; https://github.com by default",
      env: "STEP_RUNNER_GITHUB_SERVER_URL",
    }),
    readServerUrl,
  ),
  "event-name": flag.text({
    placeholder: "NAME",
    summary: "github.event_name in actions; by default what started the pipeline",
  }),
  "event-file": flag.text({ placeholder: "FILE", summary: "github.event in actions, as JSON" }),
  "native-checkout": flag.boolean({
    default: true,
    summary: "actions/checkout of the job's own project is the runner's own, without github.com",
    env: "STEP_RUNNER_NATIVE_CHECKOUT",
  }),
  "summary-file": flag.path({
    placeholder: "FILE",
    summary: "Add the Markdown summaries of actions to a file",
    env: "STEP_RUNNER_SUMMARY_FILE",
  }),
  "artifact-dir": flag.path({
    placeholder: "DIR",
    summary: "Where artifacts that actions upload go; a folder of the run in the state directory by default",
    env: "STEP_RUNNER_ARTIFACT_DIR",
  }),
});

/** The options that say what the GitHub actions of a job are told. */
export type GithubFlagOptions = OptionsOf<typeof githubFlags>;

/** The settings of the engine for GitHub actions; reads the file of the event. @throws {UsageError} */
export function githubOptions(options: Partial<GithubFlagOptions>): GithubOptions {
  const { githubToken, githubServerUrl, eventName, eventFile, summaryFile, artifactDir, nativeCheckout } = options;
  return {
    token: githubToken,
    ...serverUrls(githubServerUrl),
    eventName,
    event: eventFile === undefined ? undefined : readEvent(eventFile),
    summaryFile,
    artifactDir,
    hasNativeCheckout: nativeCheckout,
  };
}

function readServerUrl(text: string | undefined): string | undefined {
  const serverUrl = text?.replace(/\/+$/, "");
  if (serverUrl === undefined || (/^https?:\/\/[^/]/.test(serverUrl) && URL.canParse(serverUrl))) return serverUrl;
  throw new UsageError(
    `--github-server-url is "${text}"`,
    "It takes the address of a server: https://github.example.com.",
  );
}

function serverUrls(serverUrl: string | undefined): Pick<GithubOptions, "serverUrl" | "apiUrl" | "graphqlUrl"> {
  if (serverUrl === undefined || serverUrl === "https://github.com") return { serverUrl };
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
