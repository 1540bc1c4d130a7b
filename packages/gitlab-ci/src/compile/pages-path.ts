import { childOf } from "@steps/source";
import { toCiValue } from "../load/ci-value.ts";
import type { LoadedJob } from "../load/loaded-pipeline.ts";
import { stringOf } from "../load/nodes.ts";
import { recordOf } from "./keyword-values.ts";

/**
 * The folder that a job publishes as pages ([pages](https://docs.gitlab.com/ci/yaml/#pages)), as it is written; `public` unless it
 * says otherwise. `undefined` for a job that publishes none: one that is not called pages has to say `pages`, and `pages: false`
 * takes it away.
 */
export function pagesPath({ name, keywords }: LoadedJob): string | undefined {
  const node = keywords.get("pages")?.value;
  const isPages = node === undefined ? name === "pages" : toCiValue(node) !== false;
  if (!isPages) return undefined;
  const { publish } = recordOf(node);
  return typeof publish === "string" ? publish : (stringOf(keywords.get("publish")?.value) ?? "public");
}

/** Whether a job keeps variables for later jobs: `artifacts:reports:dotenv`. */
export function hasDotenvReport({ keywords }: LoadedJob): boolean {
  return childOf(childOf(keywords.get("artifacts")?.value, "reports"), "dotenv") !== undefined;
}

/** Whether a job keeps files when it has ended: by `artifacts`, or as pages. */
export function hasArtifacts(job: LoadedJob): boolean {
  return job.keywords.has("artifacts") || pagesPath(job) !== undefined;
}
