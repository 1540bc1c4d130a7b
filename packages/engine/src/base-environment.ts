import { createObject } from "@steps/model";
import { matchesVariable, MINIMAL_ENV_NAMES } from "@steps/model/environment";
import { EngineError } from "./engine-error.ts";

type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** Variables of the operating system that every step gets; the rest has to be named by the step or its caller. */
const AMBIENT_NAMES: readonly string[] = [
  "GIT_SSL_CAINFO", "HOME", "HTTPS_PROXY", "HTTP_PROXY", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "NODE_EXTRA_CA_CERTS",
  "NO_PROXY", "PATH", "SHELL", "SSL_CERT_DIR", "SSL_CERT_FILE", "TERM", "TMPDIR", "TZ", "USER", "all_proxy", "http_proxy",
  "https_proxy", "no_proxy",
]; // oxfmt-ignore

/** Prefixes of the variables that a CI system gives a job. */
const VARIABLE_PREFIXES: readonly string[] = ["CI_", "GITLAB_", "DOCKER_"];

const LOG_LEVEL = "CI_STEPS_LOG_LEVEL";

/** Predefined variables of GitLab that hold secrets. A job's environment does not say which of its variables are masked. */
const SECRET_VARIABLES: readonly string[] = [
  "CI_JOB_TOKEN", "CI_REGISTRY_PASSWORD", "CI_DEPLOY_PASSWORD", "CI_DEPENDENCY_PROXY_PASSWORD", "CI_REPOSITORY_URL",
  "CI_JOB_JWT", "CI_JOB_JWT_V1", "CI_JOB_JWT_V2", "DOCKER_AUTH_CONFIG",
]; // oxfmt-ignore

/**
 * Returns the environment that all steps start from (conformance section 5.4). With `isStrictEnv` it holds hardly anything
 * (conformance section 20 C25).
 */
export function ambientEnvironment(
  env: ProcessEnvironment,
  options: { readonly isStrictEnv?: boolean } = {},
): Record<string, string> {
  const names = options.isStrictEnv === true ? MINIMAL_ENV_NAMES : AMBIENT_NAMES;
  return pick(env, (name) => names.includes(name));
}

const LOG_LEVELS: readonly string[] = ["debug", "info", "warn", "error"];

/**
 * The value of `CI_STEPS_LOG_LEVEL` for every step (conformance section 5.4), so that tools know how much to say: that
 * of the job's variables, otherwise that of the environment, otherwise `info`.
 *
 * @throws {EngineError} LOG_LEVEL_INVALID
 */
export function logLevel(vars: ProcessEnvironment, env: ProcessEnvironment): Readonly<Record<string, string>> {
  const text = vars[LOG_LEVEL] ?? env[LOG_LEVEL] ?? "";
  const level = text.trim().toLowerCase() || "info";
  if (LOG_LEVELS.includes(level)) return { [LOG_LEVEL]: level };
  const shown = text.slice(0, 40).replaceAll(/[^\u0020-\u007e]/g, "?");
  throw new EngineError("LOG_LEVEL_INVALID", `log level: "${shown}" not supported`, {
    hint: `${LOG_LEVEL} is ${LOG_LEVELS.join(", ")}, or empty.`,
  });
}

/**
 * Returns the variables that a step may request by `inherit_env` beyond those that all steps get: all but the runner's
 * own.
 */
export function offeredEnvironment(env: ProcessEnvironment): Record<string, string> {
  return pick(env, (name) => !name.startsWith("STEP_RUNNER_") && name !== "STEPS");
}

/** The job variables that an environment holds, and those whose names match one of the patterns. */
export function jobVariables(env: ProcessEnvironment, patterns: readonly string[] = []): Record<string, string> {
  return pick(
    env,
    (name) =>
      name === "CI" || VARIABLE_PREFIXES.some((prefix) => name.startsWith(prefix)) || matchesVariable(name, patterns),
  );
}

/** The variables of an environment whose names match one of the patterns. */
export function matchingVariables(env: ProcessEnvironment, patterns: readonly string[]): Record<string, string> {
  return pick(env, (name) => matchesVariable(name, patterns));
}

/** Names among `names` whose values are secrets by GitLab's definition. */
export function secretVariableNames(names: Iterable<string>): string[] {
  return [...names].filter((name) => SECRET_VARIABLES.includes(name));
}

function pick(env: ProcessEnvironment, isWanted: (name: string) => boolean): Record<string, string> {
  const picked = createObject<string>();
  for (const name of Object.keys(env)) {
    const value = env[name];
    if (value !== undefined && isWanted(name)) picked[name] = value;
  }
  return picked;
}
