import { LOG_LEVELS, type LogLevel } from "@steps/model/operation";
import type { Flag } from "../flag.ts";
import { choice, duration } from "../flag-kinds.ts";

const GROUP = "Operation";

/** The flags that say how a long-running program tells its operator what happens. `prefix` begins their variables: `STEP_RUNNER`. */
export function logFlags(prefix: string): {
  readonly "log-format": Flag<"text" | "json">;
  readonly "log-level": Flag<LogLevel>;
} {
  return {
    "log-format": choice(["text", "json"], {
      group: GROUP,
      summary: "How the log on standard error is written: lines for people, or a JSON object a line",
      default: "text",
      env: `${prefix}_LOG_FORMAT`,
    }),
    "log-level": choice(LOG_LEVELS, {
      group: GROUP,
      summary: "The least important lines that the log has",
      default: "info",
      env: `${prefix}_LOG_LEVEL`,
    }),
  };
}

/** The flag for the time that a program takes to end by itself when it is told to. `summary` says what goes on meanwhile. */
export function drainFlags<D extends string | undefined = undefined>(
  prefix: string,
  { summary, ...rest }: { readonly summary: string; readonly default?: D },
): { readonly "drain-timeout": Flag<D extends undefined ? number | undefined : number> } {
  return {
    "drain-timeout": duration<D>({ group: GROUP, summary, env: `${prefix}_DRAIN_TIMEOUT`, ...rest }),
  };
}
