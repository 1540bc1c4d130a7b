import type { Program } from "@steps/console";
import { VERSION } from "./version.ts";

/** The program `runner-bridge`. */
export const program: Program = {
  name: "runner-bridge",
  summary: "Runs and follows jobs of a Step Runner service from outside, and takes jobs from a GitLab as its runner",
  commands: {
    run: async () => (await import("./commands/run.ts")).run,
    follow: async () => (await import("./commands/follow.ts")).follow,
    cancel: async () => (await import("./commands/cancel.ts")).cancel,
    close: async () => (await import("./commands/close.ts")).close,
    list: async () => (await import("./commands/list.ts")).list,
    register: async () => (await import("./commands/register.ts")).register,
    start: async () => (await import("./commands/start.ts")).start,
    runners: async () => (await import("./commands/runners.ts")).runners,
    verify: async () => (await import("./commands/verify.ts")).verify,
    unregister: async () => (await import("./commands/unregister.ts")).unregister,
    completion: async () => (await import("@steps/console/help")).completionCommand(program),
    man: async () => (await import("@steps/console/help")).manualCommand(program, VERSION),
  },
  headings: {
    "Jobs of a service": ["run", "follow", "cancel", "close", "list"],
    "Jobs of a GitLab": ["register", "start", "runners", "verify", "unregister"],
    "This program": ["completion", "man"],
  },
  ownFolder: "runner-bridge",
  permissionHint: "Tokens of jobs are kept below XDG_STATE_HOME or HOME.",
};
