import { flag, type OptionsOf, UsageError } from "@steps/console";
import type { RunnerConfig } from "@steps/runner";

/** Flags that choose among the registered runners. */
export const chooseFlags = {
  name: flag.text({ summary: "Only the runner of that name" }),
  all: flag.boolean({ summary: "All runners of the file" }),
};

/** The runners that are meant. @throws {UsageError} for none */
export function chooseRunners(
  runners: readonly RunnerConfig[],
  { name }: Pick<OptionsOf<typeof chooseFlags>, "name">,
): readonly RunnerConfig[] {
  const chosen = name === undefined ? runners : runners.filter((runner) => runner.name === name);
  if (chosen.length > 0) return chosen;
  const names = runners.map((runner) => `"${runner.name}"`).join(", ");
  throw new UsageError(
    name === undefined ? "No runner is registered" : `No runner is called "${name}"`,
    names === "" ? "Register one: runner-bridge register --url URL --token TOKEN" : `There are ${names}.`,
  );
}
