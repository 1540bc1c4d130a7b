import { nearest } from "./diagnostic/diagnostic.ts";

/** The names of the options of type `T`: each of them stands here, and no other can. */
export type OptionNames<T> = Readonly<Record<keyof T, true>>;

/**
 * Refuses options with a name that there is none of. TypeScript does so by itself where the options are written out; elsewhere, and
 * in plain JavaScript, a setting would be lost without a word.
 *
 * @throws {TypeError} with the nearest name
 */
export function checkOptionNames<T extends object>(what: string, given: T, names: OptionNames<T>): void {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(names, name)) continue;
    const near = nearest(name, Object.keys(names));
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    throw new TypeError(`${what} has no option "${name.slice(0, 80)}"${hint}`);
  }
}
