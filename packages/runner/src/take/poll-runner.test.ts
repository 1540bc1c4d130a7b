import type { JobAnswer } from "@steps/runner-api/client";
import { expect, test } from "vitest";
import { NO_RUNNERS, readConfig } from "../config/read-config.ts";
import type { RunnerConfig } from "../config/runner-config.ts";
import { Health } from "./health.ts";
import { pollRunner } from "./poll-runner.ts";
import { Rights } from "./rights.ts";

const URL = "https://gitlab.example";

test("pollRunner() tells each trouble once, in one sentence for all runners and servers, with the rest as facts", async () => {
  const statuses = [403, 403, 500, 500, 204, 500];
  const stop = new AbortController();
  const lines: unknown[] = [];
  const text = `runners: [{name: build-1, url: "${URL}", token: glrt-secret, executor: host}]`;
  const [config] = readConfig(text, "runners.yml").runners as [RunnerConfig];
  await pollRunner(
    {
      key: "a",
      config: () => config,
      api: {
        requestJob: () => {
          const status = statuses.shift();
          if (statuses.length === 0) stop.abort();
          return Promise.resolve({ status, message: undefined } as JobAnswer);
        },
      },
      systemId: "s_1",
      rights: new Rights(1),
      health: new Health(NO_RUNNERS),
      checkIntervalMs: 0,
      onJob: () => {},
      log: (...line) => void lines.push(line),
    },
    stop.signal,
  );
  const facts = { runner: "build-1", url: URL };
  const noJob = ["warning", "A runner got no job", { ...facts, status: 500, reason: undefined }];
  expect(lines).toEqual([["warning", "A runner is refused: its token is not valid", facts], noJob, noJob]);
});
