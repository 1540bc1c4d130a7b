import { flag, grouped, type OptionsOf, UsageError } from "@steps/console";
import { hasTerminal } from "@steps/platform/runtime";

/** The flag that opens a shell where a job has failed. */
export const shellFlag = grouped("A job that fails", {
  "shell-on-failure": flag.boolean({
    summary:
      "When a job has failed, open a shell in its folder or container, with its variables and secrets, before that goes; needs a terminal",
  }),
});

/** The option that opens a shell where a job has failed. */
export type ShellOptions = OptionsOf<typeof shellFlag>;

/** @throws {UsageError} where a shell is wanted and nobody could type into it */
export function requireTerminal({ shellOnFailure }: ShellOptions): void {
  if (!shellOnFailure || (hasTerminal(0) && hasTerminal(2))) return;
  throw new UsageError(
    "--shell-on-failure needs a terminal",
    "Standard input and standard error have to be one; leave the flag out where nobody can type, as in a CI job.",
  );
}
