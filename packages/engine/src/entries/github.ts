export { describeJob } from "../github/describe-job.ts";
export { type GitFacts, readGitFacts } from "../github/git-facts.ts";
export type { GithubOptions } from "../github/github-options.ts";
export { sharedArtifacts } from "../github/shared-artifacts.ts";
