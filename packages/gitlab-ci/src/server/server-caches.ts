import type { Value } from "@steps/model";
import { itemsOf, recordOf, textsOf } from "../compile/keyword-values.ts";
import { toCiText } from "../load/ci-value.ts";
import type { LoadedJob } from "../load/loaded-pipeline.ts";
import type { ServerCache } from "../payload/server-job.ts";

/** Gives a text that changes with the content of files of the commit; undefined when there is none of them. */
export type DigestOfFiles = (paths: readonly string[]) => Promise<string | undefined>;

/** `cache` ([cache](https://docs.gitlab.com/ci/yaml/#cache)); the runner fills variables in. */
export async function serverCaches(job: LoadedJob, digestOf: DigestOfFiles): Promise<readonly ServerCache[]> {
  const items = itemsOf(job.keywords.get("cache")?.value).map(recordOf);
  const used = items.filter((record) => textsOf(record["paths"]).length > 0 || record["untracked"] === true);
  return await Promise.all(
    used.map(async (record) => ({
      key: await keyOf(record["key"], items.indexOf(record), digestOf),
      untracked: record["untracked"] === true,
      policy: toCiText(record["policy"] ?? "pull-push"),
      paths: textsOf(record["paths"]),
      when: toCiText(record["when"] ?? "on_success"),
      fallback_keys: textsOf(record["fallback_keys"]),
    })),
  );
}

/** GitLab's server knows the files of the commit, so that the runner gets a key that is complete. */
async function keyOf(key: Value | undefined, index: number, digestOf: DigestOfFiles): Promise<string> {
  if (key === undefined || key === null) return "default";
  if (typeof key !== "object" || Array.isArray(key)) return toCiText(key);
  const files = textsOf(key["files_commits"] ?? key["files"]);
  const prefix = toCiText(key["prefix"] ?? `${index}_${files.map((name) => name.split(".")[0]).join("_")}`);
  return `${prefix}-${(await digestOf(files)) ?? "default"}`;
}
