import type { RuntimeValue } from "@steps/model";

/** The names that an expression may use. Lookups are lazy: `get` is called only for names that are used. */
export interface Scope {
  get(name: string): RuntimeValue | undefined;
  /** All names, for hints. */
  names(): readonly string[];
}

/** A scope of values, and of functions that are called at each lookup. */
export function createScope(entries: Readonly<Record<string, RuntimeValue | (() => RuntimeValue)>>): Scope {
  return {
    get: (name) => {
      if (!Object.hasOwn(entries, name)) return undefined;
      const entry = entries[name];
      return typeof entry === "function" ? entry() : entry;
    },
    names: () => Object.keys(entries),
  };
}
