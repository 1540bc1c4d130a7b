import { readFileSync, statSync } from "node:fs";
import { UsageError } from "@steps/console";
import { NAME_PATTERN } from "@steps/model/definition";
import { isUtf8 } from "node:buffer";
import type { SituationOptions } from "./situation-flags.ts";

const MAX_BYTES = 1024 * 1024;

type Options = Pick<SituationOptions, "fileVariable"> & {
  readonly secret: Readonly<Record<string, string>>;
  readonly variable: Readonly<Record<string, string>>;
  readonly maskVariable: readonly string[];
};

/**
 * The options with the contents of the files of `--file-variable` as secrets, so that they are masked and in no trace; the names
 * stay in `fileVariable`. @throws {UsageError}
 */
export function withFileVariables<T extends Options>(options: T): T {
  const { fileVariable, secret, variable, maskVariable } = options;
  const contents = Object.entries(fileVariable).map(([name, path]): [string, string] => {
    if (!NAME_PATTERN.test(name)) {
      throw new UsageError(`--file-variable is "${name}"`, "A name has letters, digits and underscores.");
    }
    for (const [other, given] of Object.entries({ secret, variable })) {
      if (Object.hasOwn(given, name)) throw new UsageError(`--file-variable and --${other} both give ${name}`);
    }
    return [name, readContents(name, path)];
  });
  if (contents.length === 0) return options;
  return {
    ...options,
    secret: { ...secret, ...Object.fromEntries(contents) },
    maskVariable: [...maskVariable, ...Object.keys(fileVariable)],
  };
}

function readContents(name: string, path: string): string {
  const flag = `--file-variable ${name}`;
  try {
    const stat = statSync(path);
    if (!stat.isFile()) throw new UsageError(`${flag}: "${path}" is no file`);
    if (stat.size > MAX_BYTES) throw new UsageError(`${flag}: "${path}" is larger than 1 MiB`);
    const bytes = readFileSync(path);
    if (!isUtf8(bytes))
      throw new UsageError(`${flag}: "${path}" is no text`, "Variables of GitLab are texts in UTF-8.");
    return bytes.toString();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${flag}: cannot read "${path}": ${(error as Error).message}`);
  }
}
