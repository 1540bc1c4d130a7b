/** Reads a CI variable; `undefined` or empty: it is not set. */
export type ReadVariable = (name: string) => string | undefined;

/** Reads each variable at most once, and none before it is asked for: what is read is what a trace has to record. */
export function readOnce(variables: ReadVariable): ReadVariable {
  const known = new Map<string, string | undefined>();
  return (name) => {
    if (!known.has(name)) known.set(name, variables(name) || undefined);
    return known.get(name);
  };
}

/** The first of several variables that is set. */
export function firstOf(read: ReadVariable, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = read(name);
    if (value !== undefined) return value;
  }
  return undefined;
}
