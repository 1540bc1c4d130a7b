import { type CommandLine, type Flags, grouped, UsageError } from "@steps/console";
import { VARIABLE_PATTERN } from "@steps/model";

/** The flags that say what fetched steps may do to the steps after them. */
export const exportFlags: Flags = grouped("Environment and secrets of the steps", {
  "allow-export": {
    type: "list",
    placeholder: "PATTERN",
    summary:
      "A variable that fetched steps may export though it runs code in other steps, such as LD_PRELOAD or NODE_OPTIONS, or PATH to replace it; a name or a pattern, repeat for more",
    env: "STEP_RUNNER_ALLOW_EXPORT",
  },
});

/** Names and patterns. @throws {UsageError} */
export function allowedExports(line: CommandLine): string[] {
  const patterns = line.list("allow-export").flatMap((text) => text.split(/[\s,]+/).filter((part) => part !== ""));
  const wrong = patterns.find((pattern) => !VARIABLE_PATTERN.test(pattern));
  if (wrong !== undefined) throw new UsageError(`--allow-export is "${wrong}"`, "It takes names and patterns: GIT_*.");
  return patterns;
}
