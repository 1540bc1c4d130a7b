import type { RuntimeString, RuntimeValue } from "@steps/model";

/** The contexts `vars` and `job`. Each variable is reported when it is read for the first time. */
export interface JobContexts {
  readonly vars: RuntimeValue;
  readonly job: RuntimeValue;
}

/**
 * Makes `vars`, and `job`: the variables again with `job.inputs`, `job.variables`, and in the blueprint's spelling
 * `job.id`, `job.project.*` and `job.pipeline.*`, unless a variable has that name (conformance sections 7 and 20 C18).
 */
export function createJobContexts(
  variables: Readonly<Record<string, RuntimeString>>,
  inputs: Readonly<Record<string, RuntimeValue>>,
  onRead: (name: string, value: RuntimeString) => void,
): JobContexts {
  const unread = new Set(Object.keys(variables));
  const read = (name: string): RuntimeString => {
    const value = variables[name] as RuntimeString;
    if (unread.delete(name)) onRead(name, value);
    return value;
  };
  const names = Object.keys(variables);
  const vars = lazyObject(names.map((name) => [name, () => read(name)]));
  const members = new Map<string, () => RuntimeValue>();
  if (Object.hasOwn(variables, "CI_JOB_ID")) members.set("id", () => read("CI_JOB_ID"));
  for (const group of ["project", "pipeline"]) {
    const prefix = `CI_${group.toUpperCase()}_`;
    const inGroup = names.filter((name) => name.startsWith(prefix));
    if (inGroup.length === 0) continue;
    const object = lazyObject(inGroup.map((name) => [name.slice(prefix.length).toLowerCase(), () => read(name)]));
    members.set(group, () => object);
  }
  for (const name of names) members.set(name, () => read(name));
  members.set("inputs", () => inputs);
  members.set("variables", () => vars);
  return { vars, job: lazyObject(members) };
}

function lazyObject(members: Iterable<readonly [string, () => RuntimeValue]>): Record<string, RuntimeValue> {
  const object = Object.create(null) as Record<string, RuntimeValue>;
  for (const [name, get] of members) Object.defineProperty(object, name, { get, enumerable: true, configurable: true });
  return object;
}
