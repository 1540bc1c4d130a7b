import type { Program } from "@steps/console";

/** The program `step-runner`. */
export const program: Program = {
  name: "step-runner",
  summary: "Runs CI steps: compiles them, fetches them, runs them, and leaves a trace that can be replayed",
  commands: {
    ci: async () => (await import("./commands/ci.ts")).ci,
    local: async () => (await import("./commands/local.ts")).local,
    run: async () => (await import("./commands/run.ts")).run,
    pipeline: async () => (await import("./commands/pipeline.ts")).pipeline,
    compile: async () => (await import("./commands/compile.ts")).compile,
    validate: async () => (await import("./commands/validate.ts")).validate,
    explain: async () => (await import("./commands/explain.ts")).explain,
    lock: async () => (await import("./commands/lock.ts")).lock,
    replay: async () => (await import("./commands/replay.ts")).replay,
    "set-output": async () => (await import("./commands/set-output.ts")).setOutput,
    "set-export": async () => (await import("./commands/set-export.ts")).setExport,
    serve: async () => (await import("./commands/serve.ts")).serve,
    proxy: async () => (await import("./commands/proxy.ts")).proxy,
    "steps serve": async () => (await import("./commands/steps-serve.ts")).stepsServe,
    "steps proxy": async () => (await import("./commands/steps-proxy.ts")).stepsProxy,
    bootstrap: async () => (await import("./commands/bootstrap.ts")).bootstrap,
    "steps bootstrap": async () => (await import("./commands/steps-bootstrap.ts")).stepsBootstrap,
    reap: async () => (await import("./commands/reap.ts")).reap,
    builtin: async () => (await import("./commands/builtin.ts")).builtin,
    "trace show": async () => (await import("./commands/trace-show.ts")).traceShow,
    "trace recover": async () => (await import("./commands/trace-recover.ts")).traceRecover,
    "cache ls": async () => (await import("./commands/cache-ls.ts")).cacheLs,
    "cache verify": async () => (await import("./commands/cache-verify.ts")).cacheVerify,
    "cache gc": async () => (await import("./commands/cache-gc.ts")).cacheGc,
  },
  permissionHint: "Journals and components are kept below HOME; --state-dir and --cache-dir name other places.",
};
