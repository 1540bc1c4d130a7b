export { type GithubContexts, githubContexts } from "./github-contexts.ts";
export { githubEnvironment } from "./github-environment.ts";
export type { GitFacts, GithubFacts } from "./github-facts.ts";
export type { ReadVariable } from "./variable-reader.ts";
