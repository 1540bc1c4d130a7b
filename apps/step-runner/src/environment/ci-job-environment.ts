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
  const { own, binDir } = shareOf(options);
  for (const [name, text] of own) {
    if (text === undefined) delete env[name];
    else env[name] = text;
  }
  env["PATH"] = `${binDir}:${env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"}`;
  return env;
}

/** The part that all jobs of a command share: variables to be set, or unset where there is no text, and the folder of this program. */
interface Share {
  readonly own: readonly (readonly [name: string, text: string | undefined])[];
  readonly binDir: string;
}

const shares = new WeakMap<Options, Share>();

// A pipeline may have ten thousand jobs.
function shareOf(options: Options): Share {
  const known = shares.get(options);
  if (known !== undefined) return known;
  const names = Object.keys(process.env).filter(
    (name) => /^(?:STEP_RUNNER_|XDG_(?:CACHE|STATE)_HOME$)/.test(name) && name !== "STEP_RUNNER_COOKIE",
  );
  const ofFlags = inherited(options).flatMap(([{ env: name = "" }, text]) =>
    text === undefined ? [] : [[name, text === "" ? undefined : text] as const],
  );
  const own = [...names.map((name) => [name, process.env[name]] as const), ...ofFlags];
  const share = { own, binDir: launcherDirectory(absolute(options.stateDir ?? userDirectories(process.env).state)) };
  shares.set(options, share);
  return share;
}

/** Flags with the texts that their variables get. An empty text unsets the variable, and none leaves it as it is. */
function inherited(options: Options): readonly (readonly [flag: Pick<Flag, "env">, text: string | undefined])[] {
  const { cacheDir, git, gitCredentials, mirror, offline, legacyRefs, locked, lockFile, stateDir } = options;
  const mirrors = Object.entries(mirror).map(([prefix, other]) => `${prefix}=${other}`);
  return [
    [runFlags["cache-dir"], cacheDir],
    [runFlags.git, git],
    // A job may be denied the user's credentials, but it has to ask for them itself.
    [runFlags["git-credentials"], gitCredentials === "none" ? "none" : undefined],
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
