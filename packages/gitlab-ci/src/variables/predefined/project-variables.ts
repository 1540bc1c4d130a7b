import { slugify } from "../slugs.ts";
import type { ProjectFacts } from "./facts.ts";
import { hostWithPort, type Remote } from "./remote.ts";
import type { PredefinedValues } from "./values.ts";

/** The variables of the server and of the project. Those that only a server knows are left out. */
export function projectVariables(project: ProjectFacts): PredefinedValues {
  const { remote, folder, defaultBranch, configPath = ".gitlab-ci.yml" } = project;
  const names = remote?.path.split("/") ?? [folder];
  const name = names.at(-1) ?? folder;
  return {
    CI: "true",
    GITLAB_CI: "true",
    CI_PROJECT_NAME: name,
    CI_PROJECT_TITLE: name,
    CI_DEFAULT_BRANCH: defaultBranch,
    CI_DEFAULT_BRANCH_SLUG: defaultBranch === undefined ? undefined : slugify(defaultBranch),
    CI_CONFIG_PATH: configPath,
    CI_TEMPLATE_REGISTRY_HOST: "registry.gitlab.com",
    ...remoteVariables(project),
  };
}

function remoteVariables(project: ProjectFacts): PredefinedValues {
  const { remote } = project;
  if (remote === undefined) return {};
  return { ...pathVariables(remote), ...serverVariables(remote), ...hostedVariables(project, remote) };
}

function pathVariables({ path }: Remote): PredefinedValues {
  const namespace = path.slice(0, path.lastIndexOf("/"));
  return {
    CI_PROJECT_PATH: path,
    CI_PROJECT_PATH_SLUG: slugify(path),
    CI_PROJECT_NAMESPACE: namespace,
    CI_PROJECT_NAMESPACE_SLUG: slugify(namespace),
    CI_PROJECT_ROOT_NAMESPACE: path.split("/", 1)[0],
  };
}

function serverVariables(remote: Remote): PredefinedValues {
  const server = serverUrl(remote);
  return {
    CI_SERVER_FQDN: hostWithPort(remote),
    CI_SERVER_HOST: remote.host,
    CI_SERVER_NAME: "GitLab",
    CI_SERVER_PORT: String(remote.port),
    CI_SERVER_PROTOCOL: remote.protocol,
    CI_SERVER_SHELL_SSH_HOST: remote.host,
    CI_SERVER_SHELL_SSH_PORT: "22",
    CI_SERVER_URL: server,
    CI_API_V4_URL: `${server}/api/v4`,
    CI_API_GRAPHQL_URL: `${server}/api/graphql`,
    CI_PROJECT_URL: `${server}/${remote.path}`,
  };
}

/** The URL of a server's pages. */
export function serverUrl(remote: Remote): string {
  return `${remote.protocol}://${hostWithPort(remote)}`;
}

// Only a server knows where its registry and its pages are; those of gitlab.com are documented.
function hostedVariables(project: ProjectFacts, { host, path, protocol }: Remote): PredefinedValues {
  const isPublic = host === "gitlab.com";
  const registry = project.registry ?? (isPublic ? "registry.gitlab.com" : undefined);
  const pagesDomain = project.pagesDomain ?? (isPublic ? "gitlab.io" : undefined);
  const [root = "", ...rest] = path.toLowerCase().split("/");
  const pagesHost = pagesDomain === undefined ? undefined : `${root}.${pagesDomain}`;
  const isRoot = rest.join("/") === pagesHost;
  return {
    CI_REGISTRY: registry,
    CI_REGISTRY_IMAGE: registry === undefined ? undefined : `${registry}/${path.toLowerCase()}`,
    CI_PAGES_DOMAIN: pagesDomain,
    CI_PAGES_HOSTNAME: pagesHost,
    CI_PAGES_URL:
      pagesHost === undefined ? undefined : `${protocol}://${pagesHost}${isRoot ? "" : `/${rest.join("/")}`}`,
  };
}
