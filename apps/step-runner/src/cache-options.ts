import { type CommandLine, UsageError } from "@steps/console";
import type { EngineOptions } from "@steps/engine";

/** How components are fetched, as `fetchFlags` say. */
export function cacheOptions(line: CommandLine): NonNullable<EngineOptions["cache"]> {
  const git = line.string("git");
  return {
    git: git === undefined ? undefined : (git as "auto" | "system" | "isomorphic"),
    isOffline: line.boolean("offline"),
    hasLegacyRefs: line.boolean("legacy-refs"),
    mirrors: readMirrors(line.list("mirror")),
  };
}

function readMirrors(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const split = text.indexOf("=", text.indexOf("://"));
      if (split < 1) throw new UsageError(`--mirror is not PREFIX=PREFIX: "${text}"`);
      return [text.slice(0, split), text.slice(split + 1)];
    }),
  );
}
