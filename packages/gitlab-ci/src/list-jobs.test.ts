import { expect, test } from "vitest";
import { listJobs } from "./list-jobs.ts";

test("lists the jobs in the order of the file, without keywords and hidden jobs", () => {
  const text =
    "stages: [test]\nvariables: {}\nb: {script: x}\n.c: {script: x}\na: {run: []}\ndefault: {}\npages: {script: x}\n";
  expect(listJobs({ name: "x.yml", text })).toEqual({ jobs: ["b", "a", "pages"], diagnostics: [] });
});

test("says what keeps it from reading a file", () => {
  const { jobs, diagnostics } = listJobs({ name: "x.yml", text: "a: [" });
  expect(jobs).toEqual([]);
  expect(diagnostics[0]?.severity).toBe("error");
});
