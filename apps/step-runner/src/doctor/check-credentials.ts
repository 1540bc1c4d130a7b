import { findGit, type GitSettings, readGitSettings, serversInNetrc } from "@steps/cache";
import type { Finding } from "./finding.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const NAME = "credentials";

/** Says where credentials for private repositories come from. Reads the configuration of git; asks no helper and no server. */
export async function checkCredentials(env: Environment): Promise<Finding> {
  const netrc = serversInNetrc(env);
  const git = findGit(env);
  const settings: GitSettings = git === undefined ? { helpers: [], rewrites: [] } : await readGitSettings(git, env);
  const inNetrc = netrc === undefined ? "no .netrc" : `${netrc.shown}: ${netrc.servers.join(", ") || "no server"}`;
  const helpers = [...new Set(settings.helpers.map(nameOf))];
  const found = `${inNetrc}; credential helpers of git: ${helpers.join(", ") || "none"}`;
  const hasSome = helpers.length > 0 || (netrc?.servers.length ?? 0) > 0;
  return { name: NAME, state: "ok", found, meaning: [meaningOf(env, hasSome), ...rewritesOf(settings)].join(" ") };
}

function meaningOf(env: Environment, hasSome: boolean): string {
  const setting = env["STEP_RUNNER_GIT_CREDENTIALS"];
  if (!hasSome) return "Private repositories over https need credentials in the reference, or a mirror.";
  if (setting === "none") return "They are not used, because STEP_RUNNER_GIT_CREDENTIALS is none.";
  const rest = setting === "user" ? "" : " ci and serve do so with --git-credentials user only.";
  return `Private repositories are fetched over https with them.${rest}`;
}

function rewritesOf({ rewrites }: GitSettings): string[] {
  if (rewrites.length === 0) return [];
  return ["What git's configuration says with url.….insteadOf is not used; --mirror does the same."];
}

// A command of the shell may hold a secret: only the name of a program is shown.
function nameOf(helper: string): string {
  const program = /^!?(?:\S*\/)?([\w.-]+)(?:\s|$)/.exec(helper)?.[1];
  return program ?? "a command of the shell";
}
