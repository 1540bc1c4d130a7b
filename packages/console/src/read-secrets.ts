import { readFileSync } from "node:fs";
import { decodeUtf8 } from "@steps/model";
import { UsageError } from "./command.ts";

/** Reads the values of `--secret NAME=VALUE`, by name. VALUE may be `env:X` or `file:P`. @throws {UsageError} */
export function readSecrets(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const split = text.indexOf("=");
      if (split < 1) throw new UsageError("--secret is not NAME=VALUE");
      return [text.slice(0, split), readSecret(text.slice(0, split), text.slice(split + 1))];
    }),
  );
}

function readSecret(name: string, value: string): string {
  if (value.startsWith("env:")) {
    const found = process.env[value.slice("env:".length)];
    if (found === undefined)
      throw new UsageError(`--secret ${name} names a variable that is not set: "${value.slice("env:".length)}"`);
    return found;
  }
  if (!value.startsWith("file:")) return value;
  const path = value.slice("file:".length);
  return decodeUtf8(path, readFileSync(path)).replace(/\r?\n$/, "");
}
