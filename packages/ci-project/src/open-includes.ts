import { relative } from "node:path";
import { UsageError } from "@steps/console";
import type { Engine } from "@steps/engine";
import { createIncludes, gitBaseOf, type Includes, type IncludeServer, withCredentials } from "@steps/engine/includes";
import type { GivenSituation } from "./local-situation.ts";

/** The user's settings for the places that included files come from. */
export interface IncludeOptions {
  /** The URL of the project, whose server other projects are included from. Default: that of its remote. */
  readonly projectUrl?: string | undefined;
  /** Folders that stand for projects, by their paths. */
  readonly includeMap?: Readonly<Record<string, string>> | undefined;
  /** Whether remote files may come over plain http. */
  readonly includeHttp?: boolean | undefined;
}

/** The project whose files are included, and what is known of it. */
export interface IncludePlace {
  readonly engine: Pick<Engine, "cache">;
  readonly local: Omit<GivenSituation, "given">;
  /** Absolute: the project's folder. */
  readonly workDir: string;
  readonly signal: AbortSignal;
}

/** Opens what files of this project, of others and of the catalog are included from. @throws {UsageError} */
export function openIncludes(options: IncludeOptions, { engine, local, workDir, signal }: IncludePlace): Includes {
  return createIncludes({
    root: workDir,
    cache: engine.cache,
    server: serverOf(options, local),
    commit: local.pipeline.commit?.sha,
    folders: options.includeMap,
    allowsHttp: options.includeHttp,
    signal,
    nameOf: shown,
  });
}

// As the user would write it from the current directory.
function shown(path: string): string {
  const way = relative(process.cwd(), path);
  return way.startsWith("..") ? path : way;
}

function serverOf(
  { projectUrl }: IncludeOptions,
  { pipeline, originUrl, overrides }: IncludePlace["local"],
): IncludeServer | undefined {
  const { remote } = pipeline.project;
  const token = overrides["CI_JOB_TOKEN"] ?? "";
  const named = (gitBase: string, host: string, project?: string): IncludeServer => {
    return { gitBase: token === "" ? gitBase : withCredentials(gitBase, "gitlab-ci-token", token), host, project };
  };
  const server = overrides["CI_SERVER_URL"] ?? "";
  if (projectUrl === undefined && server !== "") {
    if (!URL.canParse(server)) throw new UsageError(`CI_SERVER_URL is no URL: "${server}"`);
    return named(`${server.replace(/\/+$/, "")}/`, new URL(server).host, remote?.path);
  }
  const url = projectUrl ?? originUrl;
  const gitBase = url === undefined || remote === undefined ? undefined : gitBaseOf(url, remote.path);
  if (gitBase === undefined || remote === undefined) return undefined;
  const isUsual = remote.port === (remote.protocol === "http" ? 80 : 443);
  return named(gitBase, isUsual ? remote.host : `${remote.host}:${remote.port}`, remote.path);
}
