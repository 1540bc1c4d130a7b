import { childOf, Report } from "@steps/source";
import { toCiValue } from "../load/ci-value.ts";
import type { LoadedJob } from "../load/loaded-pipeline.ts";
import { readCommands } from "../read-commands.ts";

/** A script of a job, as a runner gets it. */
export interface ServerScript {
  readonly name: "script" | "after_script";
  readonly script: readonly string[];
  /** Seconds. */
  readonly timeout: number;
  readonly when: "on_success" | "always";
  readonly allow_failure: boolean;
}

/** A script around the checkout, as a runner gets it. */
export interface ServerHook {
  readonly name: string;
  readonly script: readonly string[];
}

/** `script` behind `before_script`, and `after_script`. None for a job with `run`. */
export function serverScripts(job: LoadedJob, timeout: number): readonly ServerScript[] {
  if (job.own.has("run")) return [];
  const script = [...commandsOf(job, "before_script"), ...commandsOf(job, "script")];
  const after = commandsOf(job, "after_script");
  const main: ServerScript = { name: "script", script, timeout, when: "on_success", allow_failure: false };
  if (after.length === 0) return [main];
  return [main, { name: "after_script", script: after, timeout, when: "always", allow_failure: true }];
}

/** `hooks` ([hooks](https://docs.gitlab.com/ci/yaml/#hooks)). */
export function serverHooks({ keywords }: LoadedJob): readonly ServerHook[] {
  const hooks = keywords.get("hooks")?.value;
  return ["pre_get_sources_script"].flatMap((name) => {
    const script = readCommands(name, childOf(hooks, name), new Report());
    return script.length === 0 ? [] : [{ name, script }];
  });
}

/** `run`, as the text that runners take; undefined for a job with scripts. */
export function serverRun({ own }: LoadedJob): string | undefined {
  const run = own.get("run")?.value;
  return run === undefined ? undefined : JSON.stringify(toCiValue(run));
}

// The compiler reports what is wrong with commands.
function commandsOf({ keywords }: LoadedJob, keyword: string): readonly string[] {
  return readCommands(keyword, keywords.get(keyword)?.value, new Report());
}
