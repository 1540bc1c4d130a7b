import type { Program } from "@steps/console";
import { VERSION } from "./version.ts";

/** The program `pod`. */
export const program: Program = {
  name: "pod",
  summary: "Keeps pipelines and hands their jobs to runners, by GitLab's runner API",
  commands: {
    serve: async () => (await import("./commands/serve.ts")).serve,
    "create-runner": async () => (await import("./commands/create-runner.ts")).createRunner,
    run: async () => (await import("./commands/run.ts")).run,
    runners: async () => (await import("./commands/runners.ts")).runners,
    jobs: async () => (await import("./commands/jobs.ts")).jobs,
    trace: async () => (await import("./commands/trace.ts")).trace,
    cancel: async () => (await import("./commands/cancel.ts")).cancel,
    retry: async () => (await import("./commands/retry.ts")).retry,
    router: async () => (await import("./commands/router.ts")).router,
    daemon: async () => (await import("./commands/daemon.ts")).daemon,
    "create-link": async () => (await import("./commands/create-link.ts")).createLink,
    "token inspect": async () => (await import("./commands/token-inspect.ts")).tokenInspect,
    completion: async () => (await import("@steps/console/help")).completionCommand(program),
    man: async () => (await import("@steps/console/help")).manualCommand(program, VERSION),
  },
  headings: {
    Pipelines: ["run", "jobs", "trace", "cancel", "retry"],
    "The pod": ["serve", "create-runner", "runners", "router", "daemon", "create-link", "token inspect"],
    "This program": ["completion", "man"],
  },
  ownFolder: "pod",
  permissionHint: "A pod keeps its files below XDG_STATE_HOME or HOME; --state-dir names another folder.",
};
