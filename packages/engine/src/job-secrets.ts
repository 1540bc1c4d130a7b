import { createObject, type Job, revealString, type RuntimeString, sensitive } from "@steps/model";
import { secretVariableNames } from "./base-environment.ts";

type Variables = Readonly<Record<string, RuntimeString>>;

/** The variables of a job, of whichever kind. */
export type JobVariables = Required<Pick<Job, "vars" | "env" | "offeredEnv">>;

/** The variables of a job with its secrets marked. `maskedValues` has those of marked variables and the passwords of proxies. */
export type MarkedVariables = Required<Pick<Job, keyof JobVariables | "maskedValues">>;

/**
 * Marks the variables of a job that are secret, wherever they stand: those that are named, and those that are secret by
 * GitLab's definition. The address of a repository is one only if it may hold credentials. What proxies are asked with is masked
 * too.
 */
export function markVariables(job: JobVariables, named: Iterable<string>): MarkedVariables {
  const { vars, env, offeredEnv } = job;
  const names = [vars, env, offeredEnv].flatMap((values) =>
    Object.keys(values).filter((name) => name !== "CI_REPOSITORY_URL" || !isPublicAddress(values[name] ?? "")),
  );
  const masked = new Set([...named, ...secretVariableNames(names)]);
  const mark = (values: Variables): Variables =>
    createObject(
      Object.entries(values).map(([name, value]) => [
        name,
        masked.has(name) ? (sensitive(value) as RuntimeString) : value,
      ]),
    );
  const values = [...Object.entries(vars), ...Object.entries(env)].flatMap(([name, value]) =>
    masked.has(name) ? [revealString(value)] : [],
  );
  return {
    vars: mark(vars),
    env: mark(env),
    offeredEnv: mark(offeredEnv),
    maskedValues: [...values, ...proxyPasswords(env)],
  };
}

// GitLab's server puts a token into the address of the repository. On one machine it is the one of the remote, often without.
function isPublicAddress(value: RuntimeString): boolean {
  const address = revealString(value);
  return /^(?:(?:https?|git):\/\/[^/@?#\s]+|ssh:\/\/(?:[^/:@?#\s]+@)?[^/@?#\s]+|[^/:@?#\s]+@[^/:@?#\s]+:)[^@?#\s]*$/i.test(
    address,
  );
}

// The address of a proxy is no secret, what it is asked with is.
function proxyPasswords(env: Variables): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (!/_proxy$/i.test(name)) return [];
    const userinfo = /^(?:[a-z][a-z0-9+.-]*:\/\/)?([^/@\s]*:[^/\s]*)@/i.exec(revealString(value))?.[1];
    const password = userinfo?.slice(userinfo.indexOf(":") + 1);
    return password === undefined || password === "" ? [] : [password, decoded(password)];
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
