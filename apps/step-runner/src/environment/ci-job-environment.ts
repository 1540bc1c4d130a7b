import type { Flag } from "@steps/console";
import { userDirectories } from "@steps/engine/runs";
import { absolute } from "../files/absolute.ts";
import { type LockOptions, type SourceOptions, sourcesOf } from "../flags/component-flags.ts";
import { baseEnvironment, type EnvironmentOptions } from "../flags/job-flags.ts";
import type { JobPlace } from "../job-containers/place-job.ts";
import { launcherDirectory } from "../launcher.ts";
import { type FetchOptions, runFlags, type RunOptions } from "../flags/run-flags.ts";

type Options = FetchOptions &
  SourceOptions &
  LockOptions &
  Pick<RunOptions, "stateDir"> &
  Pick<EnvironmentOptions, "strictEnv" | "jobEnv">;

/**
 * The environment that the steps of a job of a CI file start from; in a container, besides that of its image. Here, a step-runner
 * that the job calls keeps its files where this one does and fetches from where this one does.
 */
export function ciJobEnvironment(
  options: Options,
  vars: Readonly<Record<string, string>>,
  place: JobPlace,
): Readonly<Record<string, string>> {
  if (place.kind === "containers") return options.jobEnv ? vars : {};
  const env = baseEnvironment(options, vars);
  const own = Object.entries(process.env).filter(([name]) => /^(?:STEP_RUNNER_|XDG_(?:CACHE|STATE)_HOME$)/.test(name));
  for (const [name, value] of own) if (value !== undefined && name !== "STEP_RUNNER_COOKIE") env[name] = value;
  for (const [{ env: name = "" }, text] of inherited(options)) {
    if (text === "") delete env[name];
    else if (text !== undefined) env[name] = text;
  }
  const state = options.stateDir ?? userDirectories(process.env).state;
  env["PATH"] = `${launcherDirectory(absolute(state))}:${env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"}`;
  return env;
}

/** Flags with the texts that their variables get. An empty text unsets the variable, and none leaves it as it is. */
function inherited(options: Options): readonly (readonly [flag: Pick<Flag, "env">, text: string | undefined])[] {
  const { cacheDir, git, mirror, offline, legacyRefs, locked, lockFile, stateDir } = options;
  const mirrors = Object.entries(mirror).map(([prefix, other]) => `${prefix}=${other}`);
  return [
    [runFlags["cache-dir"], cacheDir],
    [runFlags.git, git],
    [runFlags.mirror, mirrors.join(" ")],
    [runFlags.offline, offline ? "true" : ""],
    [runFlags["legacy-refs"], String(legacyRefs)],
    [runFlags["state-dir"], stateDir],
    [
      runFlags["component-source"],
      sourcesOf(options)
        .map(({ text }) => text)
        .join(" "),
    ],
    [runFlags.locked, locked ? "true" : ""],
    [runFlags["lock-file"], locked ? absolute(lockFile) : undefined],
  ];
}
