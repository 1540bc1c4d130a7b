import { join } from "node:path";
import { githubEnvironment } from "@steps/github-compiler/contexts";
import type { ActionHost } from "@steps/github-runner";
import type { Services } from "@steps/github-services";
import { mapObject, type RuntimeString, sensitive } from "@steps/model";
import { describeJob } from "./describe-job.ts";
import type { GithubOptions } from "./github-options.ts";

/** The parts that a host is made of. */
export interface HostOptions extends GithubOptions {
  readonly cacheDir: string;
  readonly stateDir: string;
  readonly traceId: string;
  readonly mask: (text: string) => string;
  readonly onNote: (code: string, message: string) => void;
}

/** The host of one run, which ends when it is disposed of. */
export interface OpenActionHost extends AsyncDisposable {
  readonly host: ActionHost;
}

/** Opens the host of GitHub actions for a run. The loopback services are started when an action may need them. */
export function openActionHost(options: HostOptions): OpenActionHost {
  let services: Promise<Services> | undefined;
  const { RUNNER_TOOL_CACHE, AGENT_TOOLSDIRECTORY } = process.env;
  const toolCacheDir =
    options.toolCacheDir || RUNNER_TOOL_CACHE || AGENT_TOOLSDIRECTORY || join(options.cacheDir, "tool-cache");
  const state = { repository: "", runId: "1", job: "job", isGitlab: false };
  const host: ActionHost = {
    toolCacheDir,
    mask: options.mask,
    isDebug: options.isDebug === true,
    get groupStyle() {
      return options.groupStyle ?? (state.isGitlab ? "gitlab" : "github");
    },
    ...(options.token === undefined || options.token === "" ? {} : { token: sensitive(options.token) }),
    summaryFile: options.summaryFile,
    describe: (facts) => {
      const contexts = describeJob(options, { ...facts, toolCacheDir });
      const { github, runner } = contexts;
      const text = (name: string): string => (typeof github[name] === "string" ? github[name] : "");
      state.repository = text("repository");
      state.runId = text("run_id") || "1";
      state.job = text("job") || "job";
      state.isGitlab = facts.variable("GITLAB_CI") === "true";
      return { github, runner, event: contexts.event, environment: githubEnvironment };
    },
    async services() {
      const { startServices } = await import("@steps/github-services");
      services ??= startServices({
        cacheDir: join(options.cacheDir, "actions-cache"),
        artifactDir: options.artifactDir ?? join(options.stateDir, "artifacts", options.traceId),
        artifacts: options.artifacts,
        runId: state.runId,
        jobId: state.job,
        scope: state.repository,
        onNote: options.onNote,
      });
      // They differ from run to run, and the token is a secret. They are kept out of the trace; the value `true` is a switch,
      // not a secret.
      return mapObject((await services).env, (value): RuntimeString => (value === "true" ? value : sensitive(value)));
    },
  };
  return {
    host,
    [Symbol.asyncDispose]: async () => {
      if (services === undefined) return;
      const open = await services;
      for (const { name, path, bytes } of open.artifacts()) {
        options.onNote("artifact", `The artifact "${name}" (${bytes} bytes) is in ${path}`);
      }
      await open.close();
    },
  };
}
