import { describe, expect, test } from "vitest";
import { loadPipelineNow } from "../load/load-pipeline.ts";
import type { LoadedJob } from "../load/loaded-pipeline.ts";
import { type JobTerms, readJobTerms } from "./job-terms.ts";

function jobOf(keywords: string): LoadedJob {
  const source = { name: ".gitlab-ci.yml", text: `test:\n  script: a\n  ${keywords}\n` };
  const { pipeline, diagnostics } = loadPipelineNow(source);
  const job = pipeline?.jobs.get("test");
  if (job === undefined) throw new Error(diagnostics.map(({ message }) => message).join("; "));
  return job;
}

function termsOf(keywords: string): JobTerms {
  return readJobTerms(jobOf(keywords), { variables: { ENV: "prod" } }).terms;
}

describe("readJobTerms()", () => {
  test("says of a job without terms that it runs once, as long as it takes, and may not fail", () => {
    expect(termsOf("")).toEqual({
      timeoutMs: undefined,
      allowFailure: false,
      retry: undefined,
      resourceGroup: undefined,
      isInterruptible: false,
      coverage: undefined,
    });
  });

  test.each([
    ["timeout: 1h 30m", { timeoutMs: 5_400_000 }],
    ["timeout: one minute", { timeoutMs: 60_000 }],
    ["allow_failure: true", { allowFailure: true }],
    ["allow_failure: {exit_codes: [3, 4]}", { allowFailure: { exitCodes: [3, 4] } }],
    ["retry: 2", { retry: { max: 2, when: ["always"], exitCodes: [] } }],
    ["retry: 0", { retry: undefined }],
    ["retry: {max: 1, when: script_failure}", { retry: { max: 1, when: ["script_failure"], exitCodes: [] } }],
    ["retry: {max: 1, exit_codes: 137}", { retry: { max: 1, when: [], exitCodes: [137] } }],
    ["retry: {when: [api_failure]}", { retry: { max: 2, when: ["api_failure"], exitCodes: [] } }],
    ["resource_group: deploy-$ENV-$NONE", { resourceGroup: "deploy-prod-" }],
    ["interruptible: yes", { isInterruptible: true }],
    [String.raw`coverage: '/Total: \d+/i'`, { coverage: { body: String.raw`Total: \d+`, flags: "i" } }],
  ])("reads %s", (keywords, terms) => {
    expect(termsOf(keywords)).toMatchObject(terms);
  });

  test.each(["timeout: soon", 'timeout: "0"', "coverage: Total", "coverage: /a/x"])("refuses %s", (keywords) => {
    const { diagnostics } = readJobTerms(jobOf(keywords), { variables: {} });
    expect(diagnostics.map(({ code, position }) => [code, position?.line])).toEqual([["invalid-value", 3]]);
  });
});
