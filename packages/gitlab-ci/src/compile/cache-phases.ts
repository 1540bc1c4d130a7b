import { quote } from "@steps/model/diagnostic";
import type { Value } from "@steps/model";
import type { YamlNode } from "@steps/source";
import { toCiText } from "../load/ci-value.ts";
import { expandKeyword } from "../variables/expand-keyword.ts";
import type { CompileContext } from "./compile-context.ts";
import { keywordTemplate, storeTemplate, variableTemplate } from "./job-text.ts";
import { itemsOf, recordOf, textsOf } from "./keyword-values.ts";
import { libraryStep, type Phase } from "./phase.ts";
import { controlOf, type When, whenOf } from "./when.ts";

/** One item of `cache`. */
interface Cache {
  readonly value: { readonly [key: string]: Value };
  readonly fallbackKeys: string[];
  readonly isRestored: boolean;
  readonly isSaved: boolean;
  readonly when: When;
}

/** The phases that `cache` makes. */
export interface CachePhases {
  /** Absent for a job that restores nothing. */
  readonly restore: Phase | undefined;
  /** One or two: what is saved after success, and after a failure, may differ. */
  readonly save: readonly Phase[];
}

/** `cache`: what is restored before the script of a job, and saved after it ([cache](https://docs.gitlab.com/ci/yaml/#cache)). */
export function cachePhases(context: CompileContext): CachePhases {
  const node = context.job.keywords.get("cache")?.value;
  const caches = itemsOf(node).flatMap((item, index) => readCache(context, item, index));
  if (node === undefined || caches.length === 0) return { restore: undefined, save: [] };
  const restored = caches.filter(({ isRestored }) => isRestored);
  const saved = caches.filter(({ isSaved }) => isSaved);
  return {
    restore: restored.length === 0 ? undefined : restorePhase(context, node, restored),
    save: savePhases(context, node, saved),
  };
}

function readCache({ scope, variables, report }: CompileContext, node: YamlNode, index: number): readonly Cache[] {
  const record = recordOf(node);
  const isUntracked = record["untracked"] === true;
  const paths = textsOf(record["paths"]).map((path) => keywordTemplate("cache:paths", path, scope));
  // GitLab has nothing to do for such a cache.
  if (paths.length === 0 && !isUntracked) return [];
  const { values } = variables;
  const written = toCiText(record["policy"] ?? "pull-push");
  const policy = expandKeyword("cache:policy", written, (name) => (Object.hasOwn(values, name) ? values[name] : ""));
  if (!["pull-push", "pull", "push"].includes(policy)) {
    report.error(node, {
      code: "invalid-value",
      message: `The "policy" of a cache cannot be ${quote(policy)}`,
      hint: "It is one of pull-push, pull and push.",
    });
  }
  const value = { key: keyOf(record["key"], { scope, index }), paths, ...(isUntracked ? { untracked: true } : {}) };
  const fallbackKeys = textsOf(record["fallback_keys"]).map((key) =>
    keywordTemplate("cache:fallback_keys", key, scope),
  );
  const when = whenOf(record["when"]);
  return [{ value, fallbackKeys, isRestored: policy !== "push", isSaved: policy !== "pull", when }];
}

function keyOf(key: Value | undefined, options: { scope: CompileContext["scope"]; index: number }): Value {
  const template = (text: string): string => keywordTemplate("cache:key", text, options.scope);
  if (key === undefined || key === null) return "default";
  if (typeof key !== "object" || Array.isArray(key)) return template(toCiText(key));
  const kind = key["files_commits"] === undefined ? "files" : "files_commits";
  const names = textsOf(key[kind]);
  // As GitLab has it: caches of the same files are not the same cache.
  const prefix = key["prefix"] ?? `${options.index}_${names.map((name) => name.split(".")[0]).join("_")}`;
  return { [kind]: names.map(template), prefix: template(toCiText(prefix)) };
}

function restorePhase({ variables }: CompileContext, node: YamlNode, caches: readonly Cache[]): Phase {
  const name = "CACHE_FALLBACK_KEY";
  const fallback = variables.values[name] ?? "";
  // The runner refuses it: protected branches keep their caches apart.
  const hasFallback = fallback !== "" && !fallback.endsWith("-protected");
  return {
    name: "restore_cache",
    step: libraryStep("cache-restore"),
    inputs: {
      cache_dir: storeTemplate("cache_dir"),
      caches: caches.map(({ value, fallbackKeys }): Value => {
        return fallbackKeys.length === 0 ? value : { ...value, fallback_keys: fallbackKeys };
      }),
      ...(hasFallback ? { fallback_key: variableTemplate(name) } : {}),
    },
    node,
  };
}

function savePhases({ variables }: CompileContext, node: YamlNode, caches: readonly Cache[]): readonly Phase[] {
  const level = variables.values["CACHE_COMPRESSION_LEVEL"] ?? "";
  const phase = (name: string, when: When, saved: readonly Cache[]): Phase => ({
    name,
    step: libraryStep("cache-save"),
    inputs: {
      cache_dir: storeTemplate("cache_dir"),
      caches: saved.map(({ value }) => value),
      ...(level === "" ? {} : { compression_level: variableTemplate("CACHE_COMPRESSION_LEVEL") }),
    },
    control: controlOf(when),
    node,
  });
  const [first] = caches;
  if (first === undefined) return [];
  if (caches.every(({ when }) => when === first.when)) return [phase("archive_cache", first.when, caches)];
  // As the runner has it: one phase for each end of the job.
  return [
    phase(
      "archive_cache",
      "on_success",
      caches.filter(({ when }) => when !== "on_failure"),
    ),
    phase(
      "archive_cache_on_failure",
      "on_failure",
      caches.filter(({ when }) => when !== "on_success"),
    ),
  ];
}
