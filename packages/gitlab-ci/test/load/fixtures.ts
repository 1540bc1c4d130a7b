import type { Value } from "@steps/model";
import { expect } from "vitest";
import type { FileRequest, LoadedFile, LoadFailure } from "../../src/load/load-file.ts";
import { loadPipelineNow, type LoadPipelineOptions, type LoadPipelineResult } from "../../src/load/load-pipeline.ts";
import { keywordValue, type LoadedJob, type LoadedPipeline } from "../../src/load/loaded-pipeline.ts";

/** Texts by the name of a request. */
export type Files = Readonly<Record<string, string>>;

/** Files by the name that a request has here: a path, `project@ref:path`, a URL, `template:name`, an address. */
function loaderOf(files: Files): (request: FileRequest) => LoadedFile | LoadFailure {
  return (request) => {
    const name = nameOf(request);
    const text = files[name];
    if (text === undefined) return { problem: "The file does not exist" };
    return { source: { name, text }, ...factsOf(request) };
  };
}

function nameOf(request: FileRequest): string {
  if (request.kind === "local") {
    const { project, ref } = request.context;
    return project === undefined ? request.path : `${project}@${ref}:${request.path}`;
  }
  if (request.kind === "project") return `${request.project}@${request.ref ?? "HEAD"}:${request.path}`;
  if (request.kind === "remote") return request.url;
  if (request.kind === "artifact") return `${request.job}:${request.path}`;
  return request.kind === "template" ? `template:${request.name}` : request.address;
}

function factsOf(request: FileRequest): Omit<LoadedFile, "source"> {
  if (request.kind === "local") return { context: request.context };
  if (request.kind === "project") return { context: { project: request.project, ref: request.ref ?? "HEAD" } };
  if (request.kind !== "component") return {};
  const component = { name: "greet", sha: "abc", version: null, reference: "main" };
  return { context: { project: "group/components", ref: "abc" }, component };
}

/** Loads a file with others that it may include. */
export function load(text: string, files: Files = {}, options: Partial<LoadPipelineOptions> = {}): LoadPipelineResult {
  return loadPipelineNow({ name: ".gitlab-ci.yml", text }, { loadFile: loaderOf(files), ...options });
}

/** The same for files without any fault. */
export function loaded(text: string, files: Files = {}, options: Partial<LoadPipelineOptions> = {}): LoadedPipeline {
  const { pipeline, diagnostics } = load(text, files, options);
  expect(diagnostics.map(({ message }) => message)).toEqual([]);
  if (pipeline === undefined) throw new Error("Not loaded");
  return pipeline;
}

/** A job that must be there. */
export function job(pipeline: LoadedPipeline, name: string): LoadedJob {
  const found = pipeline.jobs.get(name);
  if (found === undefined) throw new Error(`No job ${name}: ${[...pipeline.jobs.keys()].join(", ")}`);
  return found;
}

/** The plain value of the script of a job. */
export function script(pipeline: LoadedPipeline, name = "test"): Value | undefined {
  return keywordValue(job(pipeline, name), "script");
}

/** Each diagnostic as `severity code file:line`. */
export function complaints(result: LoadPipelineResult): string[] {
  return result.diagnostics.map(({ severity, code, position }) => {
    const place = position === undefined ? "-" : `${position.source.name}:${position.line}`;
    return `${severity} ${code} ${place}`;
  });
}

/** A value whose objects have a prototype, to compare. */
export const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
