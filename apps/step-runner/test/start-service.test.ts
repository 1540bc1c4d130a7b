import { expect, test } from "vitest";
import { tableOptions } from "../src/service/start-service.ts";

test("tableOptions() passes on what a command says about the jobs of its service", () => {
  const options = tableOptions({
    allowExport: ["LD_PRELOAD"],
    cacheDir: "/cache",
    traceSync: "all",
    strictEnv: true,
    retention: 1000,
    maxJobs: 2,
  });
  expect(options).toMatchObject({
    allowedExports: ["LD_PRELOAD"],
    cacheDir: "/cache",
    traceSync: "all",
    isStrictEnv: true,
    limits: { retentionMs: 1000, maxJobs: 2 },
  });
});
