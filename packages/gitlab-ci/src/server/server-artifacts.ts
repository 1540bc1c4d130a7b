import type { Value } from "@steps/model";
import { recordOf, textsOf } from "../compile/keyword-values.ts";
import { pagesPath } from "../compile/pages-path.ts";
import { toCiText } from "../load/ci-value.ts";
import type { LoadedJob } from "../load/loaded-pipeline.ts";
import type { ServerArtifact } from "../payload/server-job.ts";

/** The names of reports as GitLab keeps them; the others are called by their type. */
const REPORT_NAMES: Readonly<Record<string, string>> = {
  accessibility: "gl-accessibility.json",
  annotations: "gl-annotations.json",
  browser_performance: "browser-performance.json",
  cobertura: "cobertura-coverage.xml",
  codequality: "gl-code-quality-report.json",
  container_scanning: "gl-container-scanning-report.json",
  cyclonedx: "gl-sbom.cdx.json",
  dependency_scanning: "gl-dependency-scanning-report.json",
  dotenv: ".env",
  jacoco: "jacoco-coverage.xml",
  junit: "junit.xml",
  load_performance: "load-performance.json",
  metrics: "metrics.txt",
  requirements: "requirements.json",
  sast: "gl-sast-report.json",
  secret_detection: "gl-secret-detection-report.json",
  terraform: "tfplan.json",
};

/** Reports that GitLab keeps as they are; all others are compressed. */
const RAW_REPORTS: readonly string[] = [
  "accessibility",
  "annotations",
  "browser_performance",
  "container_scanning",
  "dependency_scanning",
  "load_performance",
  "requirements",
  "sast",
  "secret_detection",
  "terraform",
];

/** `artifacts` with its reports ([artifacts](https://docs.gitlab.com/ci/yaml/#artifacts)); the runner fills variables in. */
export function serverArtifacts(job: LoadedJob): readonly ServerArtifact[] {
  const record = recordOf(job.keywords.get("artifacts")?.value);
  const text = (key: string): string => {
    const value = record[key];
    return value === undefined || value === null ? "" : toCiText(value);
  };
  const pages = pagesPath(job);
  const listed = textsOf(record["paths"]);
  const paths = pages === undefined || listed.includes(pages) ? listed : [...listed, pages];
  const untracked = record["untracked"] === true;
  const archive: ServerArtifact = {
    name: text("name"),
    untracked,
    paths,
    exclude: textsOf(record["exclude"]),
    when: text("when"),
    artifact_type: "archive",
    artifact_format: "zip",
    expire_in: text("expire_in"),
  };
  const files = paths.length > 0 || untracked ? [archive] : [];
  return [...files, ...reportsOf(record["reports"], text("expire_in"))];
}

function reportsOf(reports: Value | undefined, expireIn: string): readonly ServerArtifact[] {
  return Object.entries(isRecord(reports) ? reports : {}).map(([keyword, value]) => {
    const isCoverage = isRecord(value);
    const type = isCoverage ? toCiText(value["coverage_format"] ?? keyword) : keyword;
    return {
      name: REPORT_NAMES[type] ?? `${type}.json`,
      untracked: false,
      paths: textsOf(isCoverage ? value["path"] : value),
      exclude: [],
      when: "always",
      artifact_type: type,
      artifact_format: RAW_REPORTS.includes(type) ? "raw" : "gzip",
      expire_in: expireIn,
    };
  });
}

function isRecord(value: Value | undefined): value is { readonly [key: string]: Value } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
