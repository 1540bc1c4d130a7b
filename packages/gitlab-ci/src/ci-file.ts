import { readYaml, type YamlEntry, type YamlMapping, type YamlNode } from "@steps/source";
import { nearest, quote, type Source } from "@steps/model";
import { GLOBAL_KEYWORDS } from "./keywords.ts";
import type { CiReport } from "./ci-rules.ts";

/** GitLab's tag for a value that stands elsewhere. */
export const REFERENCE_TAG = "!reference";

/** A `.gitlab-ci.yml` after reading. */
export interface CiFile {
  readonly source: Source;
  readonly root: YamlMapping;
  /** The jobs that can be run: no keywords of the file, no hidden jobs. */
  readonly jobs: ReadonlyMap<string, YamlEntry>;
}

/** Reads a file as far as its jobs. `undefined`: it is no configuration, which was reported. */
export function readCiFile(source: Source, report: CiReport): CiFile | undefined {
  const { documents, diagnostics, isBroken } = readYaml(source, { tags: [REFERENCE_TAG] });
  report.include(diagnostics);
  if (isBroken) return undefined;
  const root = configDocument(source, documents, report);
  if (root === undefined) return undefined;
  const jobs = new Map([...root.entries].filter(([name]) => !name.startsWith(".") && !GLOBAL_KEYWORDS.includes(name)));
  return { source, root, jobs };
}

function configDocument(source: Source, documents: readonly YamlNode[], report: CiReport): YamlMapping | undefined {
  const [first, second, third] = documents;
  const isHeader = first?.kind === "mapping" && first.entries.has("spec");
  if (isHeader && second !== undefined) checkHeader(source, { header: first, config: second }, report);
  const config = isHeader && second !== undefined ? second : first;
  const surplus = config === second ? third : second;
  if (surplus !== undefined) {
    report.error(surplus, {
      code: "invalid-file",
      message: "The file has more documents than a header and a configuration",
    });
  }
  if (config?.kind === "mapping" && config.tag === undefined) return config;
  report.error(config, { code: "invalid-file", message: "The file is not a mapping of keywords and jobs" });
  return undefined;
}

// Inputs may stand anywhere in the configuration, also in the names of jobs.
function checkHeader(
  source: Source,
  { header, config }: Record<"header" | "config", YamlNode>,
  report: CiReport,
): void {
  const at = source.text.indexOf("$[[", config.offset);
  if (at !== -1 && at < config.offset + config.length) {
    report.error(
      { kind: "list", items: [], source, offset: at, length: 3 },
      {
        code: "not-supported",
        message: `"$[[ ]]" is not supported: the inputs of the file's header are not filled in`,
      },
    );
    return;
  }
  report.warn(header, {
    code: "keyword-not-honoured",
    message: `"spec" has no effect: the inputs of the file's header are not asked for`,
  });
}

/**
 * Reports everything at the top of a file that is neither a keyword, nor hidden, nor a job, as GitLab refuses the file
 * for it: it may be a misspelt keyword. `chosen` is a job for certain.
 */
export function checkJobs(file: CiFile, chosen: string, report: CiReport): void {
  for (const [name, { key, value }] of file.jobs) {
    if (isJob(value) || (name === chosen && value.kind === "mapping")) continue;
    const guess = nearest(name, GLOBAL_KEYWORDS);
    const why = value.kind === "mapping" ? `it has no "script", "run" or "trigger"` : "it is not a mapping";
    report.error(key, {
      code: value.kind === "mapping" ? "missing-script" : "invalid-job",
      message: `${quote(name)} is neither a keyword nor a job: ${why}`,
      hint: guess === undefined ? undefined : `Did you mean "${guess}"?`,
    });
  }
}

function isJob(value: YamlNode): boolean {
  if (value.tag !== undefined) return true;
  if (value.kind !== "mapping") return false;
  return ["script", "run", "trigger", "extends"].some((keyword) => value.entries.has(keyword));
}
