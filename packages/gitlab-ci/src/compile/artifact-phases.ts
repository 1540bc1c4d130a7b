import type { Value } from "@steps/model";
import type { YamlNode } from "@steps/source";
import { toCiText } from "../load/ci-value.ts";
import type { LoadedJob } from "../load/loaded-pipeline.ts";
import type { CompileContext } from "./compile-context.ts";
import { pagesPath } from "./pages-path.ts";
import { keywordTemplate, literalTemplate, storeTemplate, variableTemplate } from "./job-text.ts";
import { recordOf, textsOf } from "./keyword-values.ts";
import { libraryStep, type Phase } from "./phase.ts";
import { controlOf, type When, whenOf } from "./when.ts";

/** Unpacks the artifacts of those jobs. `undefined` for none. */
export function downloadPhase({ job }: CompileContext, from: readonly string[]): Phase | undefined {
  if (from.length === 0) return undefined;
  return {
    name: "download_artifacts",
    step: libraryStep("artifacts-download"),
    inputs: {
      artifacts_dir: storeTemplate("artifacts_dir"),
      sources: from.map((name) => ({ job: literalTemplate(name) })),
    },
    node: (job.keywords.get("dependencies") ?? job.keywords.get("needs"))?.value ?? job.key,
  };
}

/** The variables of `artifacts:reports:dotenv`, kept for later jobs. `undefined` for a job without. */
export function dotenvPhase(context: CompileContext): Phase | undefined {
  const { job } = context;
  const node = job.keywords.get("artifacts")?.value;
  const { dotenv } = reportsOf(node);
  if (node === undefined || dotenv === undefined) return undefined;
  return {
    name: "report_dotenv",
    step: libraryStep("report-dotenv"),
    inputs: { ...ownerOf(job.name), files: templates("artifacts:paths", dotenv, context) },
    control: controlOf("always"),
    node,
  };
}

/**
 * `artifacts`: files that are kept when the job has ended ([artifacts](https://docs.gitlab.com/ci/yaml/#artifacts)). Reports are kept
 * whatever `when` says. The folder that a job of pages publishes is one of its artifacts.
 */
export function uploadPhases(context: CompileContext): readonly Phase[] {
  const { job, scope } = context;
  const artifacts = job.keywords.get("artifacts")?.value;
  const node = artifacts ?? job.keywords.get("pages")?.value ?? job.key;
  const record = recordOf(artifacts);
  const { dotenv: _, ...reports } = reportsOf(artifacts);
  const hasReports = Object.keys(reports).length > 0;
  const paths = templates("artifacts:paths", withPages(job, record["paths"]), context);
  const isUntracked = record["untracked"] === true;
  const hasFiles = paths.length > 0 || isUntracked;
  if (!hasFiles && !hasReports) return [];
  const exclude = templates("artifacts:exclude", record["exclude"], context);
  const text = (keyword: string, key: string): Readonly<Record<string, Value>> => {
    const value = record[key];
    return value === undefined || value === null ? {} : { [key]: keywordTemplate(keyword, toCiText(value), scope) };
  };
  const common = {
    ...ownerOf(job.name),
    ...text("artifacts:name", "name"),
    ...text("artifacts:expire_in", "expire_in"),
  };
  const level = context.variables.values["ARTIFACT_COMPRESSION_LEVEL"] ?? "";
  const kept: Readonly<Record<string, Value>> = hasReports ? { reports: mapReports(reports, context) } : {};
  const files: Readonly<Record<string, Value>> = {
    ...(paths.length === 0 ? {} : { paths }),
    ...(exclude.length === 0 ? {} : { exclude }),
    ...(isUntracked ? { untracked: true } : {}),
    ...(level === "" ? {} : { compression_level: variableTemplate("ARTIFACT_COMPRESSION_LEVEL") }),
  };
  const phase = (name: string, when: When, inputs: Readonly<Record<string, Value>>): Phase => {
    return { name, step: libraryStep("artifacts-upload"), inputs, control: controlOf(when), node };
  };
  if (!hasFiles) return [phase("upload_artifacts", "always", { ...common, ...kept })];
  const when = whenOf(record["when"]);
  const all = phase("upload_artifacts", when, { ...common, ...files, ...kept });
  if (!hasReports || when === "always") return [all];
  return [all, phase("upload_reports", when === "on_success" ? "on_failure" : "on_success", { ...common, ...kept })];
}

function withPages(job: LoadedJob, paths: Value | undefined): string[] {
  const listed = textsOf(paths);
  const path = pagesPath(job);
  return path === undefined || listed.includes(path) ? listed : [...listed, path];
}

function ownerOf(job: string): Readonly<Record<string, Value>> {
  return { artifacts_dir: storeTemplate("artifacts_dir"), job: literalTemplate(job) };
}

function reportsOf(node: YamlNode | undefined): Readonly<Record<string, Value>> {
  const { reports } = recordOf(node);
  return typeof reports === "object" && reports !== null && !Array.isArray(reports) ? reports : {};
}

function mapReports(reports: Readonly<Record<string, Value>>, context: CompileContext): Value {
  const mapped = Object.entries(reports).map(([type, value]) => {
    const isCoverage = typeof value === "object" && value !== null && !Array.isArray(value);
    return [type, templates("artifacts:paths", isCoverage ? value["path"] : value, context)] as const;
  });
  return Object.fromEntries(mapped);
}

function templates(keyword: string, value: Value | undefined, { scope }: CompileContext): string[] {
  return textsOf(value).map((text) => keywordTemplate(keyword, text, scope));
}
