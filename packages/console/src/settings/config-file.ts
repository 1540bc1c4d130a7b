import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { decodeSource } from "@steps/model/utf8";
import type { Command, Settings } from "../command.ts";
import type { Flag, Flags } from "../flag.ts";
import { path } from "../flag-kinds.ts";
import type { SettingsOptions } from "./read-settings.ts";

type ReadsSettings = NonNullable<Command["settings"]>;

/** The flag that names a file with the other flags of a command that runs for long. `env` is its variable. */
export function configFlags(env: string): { readonly config: Flag<string | undefined> } {
  return {
    config: path({
      group: "Operation",
      placeholder: "FILE",
      summary: "A YAML or JSON file with flags by their names, which the command line and the environment win over",
      env,
    }),
  };
}

/** The settings of a command with `configFlags()`: those of the file that the flag or its variable names. */
export const settingsOfConfig: ReadsSettings = async (flags, call) => {
  const file = call.value("config");
  return file === undefined ? {} : await readFile(resolve(file), { flags, isPrivate: true });
};

/**
 * The settings of a command that has a `--config` of its own: they are in that file, under a key. Without the file there are none, and
 * the command says so itself. `defaultFile` is the file if none is named.
 */
export function settingsOfKey(key: string, defaultFile: () => string | undefined = () => undefined): ReadsSettings {
  return async (flags, call) => {
    const file = call.value("config") ?? defaultFile();
    if (file === undefined) return {};
    try {
      return await readFile(resolve(file), { flags, key, isPrivate: true });
    } catch (error) {
      if (typeof (error as NodeJS.ErrnoException).code === "string") return {};
      throw error;
    }
  };
}

async function readFile(name: string, options: SettingsOptions & { readonly flags: Flags }): Promise<Settings> {
  const source = decodeSource(name, readFileSync(name));
  const { readSettings } = await import("./read-settings.ts");
  return readSettings(source, options);
}
