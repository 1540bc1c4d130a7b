import { converted, flag, grouped, UsageError } from "@steps/console";
import { VARIABLE_PATTERN } from "@steps/model/environment";

/** The flags that say what fetched steps may do to the steps after them. The option is a list of names and patterns. */
export const exportFlags = grouped("Environment and secrets of the steps", {
  "allow-export": converted(
    flag.list({
      placeholder: "PATTERN",
      summary:
        "A variable that fetched steps may export though it runs code in other steps, such as LD_PRELOAD or NODE_OPTIONS, or PATH to replace it; a name or a pattern, repeat for more",
      env: "STEP_RUNNER_ALLOW_EXPORT",
    }),
    (texts, name) => {
      const patterns = texts.flatMap((text) => text.split(/[\s,]+/).filter((part) => part !== ""));
      return checkPatterns(name, patterns, "GIT_*");
    },
  ),
});

/** Gives names and patterns of variables as they are. @throws {UsageError} for what is neither */
export function checkPatterns(name: string, patterns: readonly string[], example: string): readonly string[] {
  const wrong = patterns.find((pattern) => !VARIABLE_PATTERN.test(pattern));
  if (wrong !== undefined) throw new UsageError(`--${name} is "${wrong}"`, `It takes names and patterns: ${example}.`);
  return patterns;
}
