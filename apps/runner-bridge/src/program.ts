import type { Program } from "@steps/console";

/** The program `runner-bridge`. */
export const program: Program = {
  name: "runner-bridge",
  summary: "Runs and follows jobs of a Step Runner service from outside: through Docker, SSH, Kubernetes or a socket",
  commands: {
    run: async () => (await import("./commands/run.ts")).run,
    follow: async () => (await import("./commands/follow.ts")).follow,
    cancel: async () => (await import("./commands/cancel.ts")).cancel,
    close: async () => (await import("./commands/close.ts")).close,
    list: async () => (await import("./commands/list.ts")).list,
  },
  permissionHint: "Tokens of jobs are kept below XDG_STATE_HOME or HOME.",
};
