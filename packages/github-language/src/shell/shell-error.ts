import { StepsError } from "@steps/model";

/** A `shell` that is neither built in nor a template with `{0}`. */
export class ShellError extends StepsError<"SHELL"> {
  constructor(message: string, hint?: string) {
    super("SHELL", message, { hint });
  }
}
