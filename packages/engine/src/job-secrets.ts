import { createObject, revealString, type RuntimeString, sensitive } from "@steps/model";
import { secretVariableNames } from "./base-environment.ts";

type Variables = Readonly<Record<string, RuntimeString>>;

/** The variables of a job. */
export interface JobVariables {
  readonly vars: Variables;
  readonly env: Variables;
  readonly offeredEnv: Variables;
}

/** The same with its secrets marked. */
export interface MarkedVariables extends JobVariables {
  /** The values that have to be masked: those of marked variables, and the passwords of proxies. */
  readonly maskedValues: readonly string[];
}

/**
 * Marks the variables of a job that are secret, wherever they stand: those that are named, and those that are secret by
 * GitLab's definition. What proxies are asked with is masked too.
 */
export function markVariables(job: JobVariables, named: Iterable<string>): MarkedVariables {
  const { vars, env, offeredEnv } = job;
  const names = [vars, env, offeredEnv].flatMap((values) => Object.keys(values));
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
