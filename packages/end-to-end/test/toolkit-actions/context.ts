import * as core from "@actions/core";
import * as github from "@actions/github";

// Reports the context that `@actions/github` builds of the job, and its requests to the server.
const { context } = github;
const attempt = <T>(read: () => T): T | string => {
  try {
    return read();
  } catch (error) {
    return (error as Error).message;
  }
};
core.setOutput("context", context);
core.setOutput(
  "repo",
  attempt(() => context.repo),
);
core.setOutput(
  "issue",
  attempt(() => context.issue),
);
const token = core.getInput("token");
core.setOutput("token-length", token.length);
const secretNames = ["GITHUB_TOKEN", "CI_JOB_TOKEN", "CI_REGISTRY_PASSWORD", "CI_REPOSITORY_URL"];
core.setOutput(
  "secrets-in-env",
  Object.keys(process.env).filter((name) => secretNames.includes(name)),
);
core.setOutput("leaked", Object.values(process.env).filter((value) => value?.includes("job-token") === true).length);
const client = attempt(() => github.getOctokit(token));
if (typeof client === "string") core.setOutput("client", client);
else if (core.getInput("ask") !== "") {
  const { data } = await client.rest.repos.get({ owner: "group", repo: "project" });
  core.setOutput("client", data.full_name);
}
