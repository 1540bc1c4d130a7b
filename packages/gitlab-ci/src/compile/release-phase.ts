import type { Value } from "@steps/model";
import { toCiText } from "../load/ci-value.ts";
import type { CompileContext } from "./compile-context.ts";
import { keywordTemplate, literalTemplate, storeTemplate } from "./job-text.ts";
import { recordOf } from "./keyword-values.ts";
import { libraryStep, type Phase } from "./phase.ts";

/**
 * `release`: what GitLab would be asked to release when the script has succeeded; nothing is published
 * ([release](https://docs.gitlab.com/ci/yaml/#release)). `undefined` for a job without.
 */
export function releasePhase({ job, scope }: CompileContext): Phase | undefined {
  const node = job.keywords.get("release")?.value;
  if (node === undefined) return undefined;
  const fill = (value: Value): Value => {
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== "object" || value === null) return keywordTemplate("release", toCiText(value), scope);
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fill(member)]));
  };
  const { milestones, ...others } = recordOf(node);
  const known = Object.entries(others).filter(([, value]) => value !== null);
  const list = milestones === undefined || milestones === null || Array.isArray(milestones) ? milestones : [milestones];
  return {
    name: "release",
    step: libraryStep("release"),
    inputs: {
      ...Object.fromEntries(known.map(([key, value]) => [key, fill(value)])),
      ...(list === undefined || list === null ? {} : { milestones: fill(list) }),
      artifacts_dir: storeTemplate("artifacts_dir"),
      job: literalTemplate(job.name),
    },
    node,
  };
}
