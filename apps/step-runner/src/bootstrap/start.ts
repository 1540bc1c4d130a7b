import { basename, dirname } from "node:path";
import { ownCommand, type PackedProgram, packedProgram } from "@steps/platform/runtime";

/** How this process was started. */
export interface Start {
  /** The name it answers to. */
  readonly name: ProgramName;
  readonly args: readonly string[];
  /** The launcher that started it, without symbolic links. */
  readonly launcher?: string;
  /** The private runtime it runs in. */
  readonly runtimeDir?: string;
  /** Why the arguments that GitLab's runner left for us could not be read. */
  readonly error?: string;
}

/** Ours, and the programs of GitLab that it may stand in for. */
type ProgramName = (typeof NAMES)[number];

type Environment = Record<string, string | undefined>;

/** The process as Node shows it; what is not for the steps is taken out of it. */
export interface StartedProcess {
  readonly execPath: string;
  readonly argv: string[];
  readonly env: Environment;
  /** The executable that holds the program. Absent where a Node runs a file. */
  readonly packed?: PackedProgram | undefined;
}

const NAMES = ["step-runner", "gitlab-runner-helper", "gitlab-runner"] as const;

/** GitLab's runner keeps the arguments here, for images whose entry point drops them. */
export const ARGV_VARIABLE = "_GITLAB_RUNNER_HELPER_NATIVE_STEPS_ARGV";

let own: Start | undefined;

/** How the running process was started; what the launcher changed in it is put right at the first call. */
export function ownStart(): Start {
  own ??= readStart({ execPath: ownCommand()[0], argv: process.argv, env: process.env, packed: packedProgram() });
  return own;
}

/** Reads how a process was started: by a launcher (`launcher-code.ts` says how), by a Node of the machine, or as an executable. */
export function readStart(started: StartedProcess): Start {
  const { argv, execPath, env, packed } = started;
  const runtimeDir = dirname(execPath);
  const isOurs = packed !== undefined || dirname(dirname(argv[1] ?? "")) === runtimeDir;
  const isLaunched = basename(execPath) === "ld.so" && isOurs;
  const [launcher, calledAs] = isLaunched ? argv.splice(2, 2) : [];
  if (isLaunched) revealVariables(env);
  const recovered = recoverArgs(env);
  return {
    name: nameOf([calledAs, launcher, isLaunched ? undefined : (packed?.calledAs ?? argv[1])]),
    args: argv.length > 2 ? argv.slice(2) : (recovered.args ?? []),
    ...(isLaunched && launcher !== undefined ? { launcher, runtimeDir } : {}),
    ...(argv.length > 2 || recovered.error === undefined ? {} : { error: recovered.error }),
  };
}

function nameOf(paths: readonly (string | undefined)[]): ProgramName {
  const called = paths.flatMap((path) => (path === undefined ? [] : [basename(path)]));
  return NAMES.find((name) => name === called.find((text) => NAMES.some((known) => known === text))) ?? "step-runner";
}

/** The first letters of hidden variables, by what begins their names while they are hidden. */
const HIDDEN: Readonly<Record<string, string>> = { "%D_": "L", "%ODE_": "N", "%PENSSL_": "O", "%UN_": "B" };

/**
 * The variables that the launcher hides from the engine are meant for the programs of the image, so they are given back here.
 */
function revealVariables(env: Environment): void {
  for (const name of Object.keys(env)) {
    const letter = /^%(?:D_|ODE_|PENSSL_|UN_)/.exec(name);
    if (letter === null) continue;
    env[`${HIDDEN[letter[0]] ?? ""}${name.slice(1)}`] = env[name];
    delete env[name];
  }
}

function recoverArgs(env: Environment): { readonly args?: readonly string[]; readonly error?: string } {
  const text = env[ARGV_VARIABLE];
  delete env[ARGV_VARIABLE];
  if (text === undefined || text === "") return {};
  const error = `${ARGV_VARIABLE} is not a list of texts in JSON in base64`;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return { error };
  try {
    const args: unknown = JSON.parse(Buffer.from(text, "base64").toString());
    return Array.isArray(args) && args.every((arg) => typeof arg === "string") ? { args } : { error };
  } catch {
    return { error };
  }
}
