import { readFileSync } from "node:fs";
import { decodeUtf8 } from "@steps/model/utf8";
import { UsageError } from "./usage-error.ts";

/** Reads texts `NAME=VALUE` of a flag for secrets, by name. VALUE may be `env:X` or `file:P`. @throws {UsageError} */
export function readSecrets(texts: readonly string[], flag: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const split = text.indexOf("=");
      if (split < 1) throw new UsageError(`--${flag} is not NAME=VALUE`);
      return [text.slice(0, split), readSecret(text.slice(0, split), text.slice(split + 1), flag)];
    }),
  );
}

function readSecret(name: string, value: string, flag: string): string {
  if (value.startsWith("env:")) {
    const found = process.env[value.slice("env:".length)];
    if (found === undefined)
      throw new UsageError(`--${flag} ${name} names a variable that is not set: "${value.slice("env:".length)}"`);
    return found;
  }
  if (!value.startsWith("file:")) return value;
  const path = value.slice("file:".length);
  return decodeUtf8(path, readFileSync(path)).replace(/\r?\n$/, "");
}
