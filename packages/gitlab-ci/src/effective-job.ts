import type { YamlEntry, YamlMapping, YamlNode } from "@steps/source";
import { nearest, quote } from "@steps/model";
import { type CiFile, REFERENCE_TAG } from "./ci-file.ts";
import { readInherit } from "./inherit.ts";
import {
  DEFAULT_KEYWORDS,
  HONOURED_KEYWORDS,
  IGNORED_GLOBAL_KEYWORDS,
  IGNORED_KEYWORDS,
  JOB_KEYWORDS,
  TOP_LEVEL_DEFAULTS,
  UNSUPPORTED_KEYWORDS,
} from "./keywords.ts";
import { isNothing, reportReference } from "./read-commands.ts";
import type { CiReport } from "./ci-rules.ts";

/** A job with what it inherits. */
export interface EffectiveJob {
  readonly name: string;
  /** The name of the job in the file. */
  readonly key: YamlNode;
  /** Its own keywords. */
  readonly own: ReadonlyMap<string, YamlEntry>;
  /** Its own keywords and those of `default:` that it does not have; `script` and the like are looked up here. */
  readonly keywords: ReadonlyMap<string, YamlEntry>;
  /** Which of the file's variables it takes. */
  readonly inheritsVariable: (name: string) => boolean;
}

/**
 * A job as it would run: its own keywords, then those of `default:` (or of the top of the file, the deprecated spelling)
 * that it lacks and inherits. Reports every keyword that is unknown, not supported, or has no effect here.
 */
export function readEffectiveJob(name: string, file: CiFile, report: CiReport): EffectiveJob | undefined {
  const { key, value } = file.jobs.get(name) as YamlEntry;
  checkFile(file, report);
  if (value.tag === REFERENCE_TAG) reportReference(value, name, report);
  if (value.kind !== "mapping") return undefined;
  const inherit = readInherit(value.entries.get("inherit")?.value, report);
  const defaults = [...readDefaults(file, report)].filter(
    ([keyword]) => !value.entries.has(keyword) && inherit.default(keyword),
  );
  const keywords = new Map([...defaults, ...value.entries]);
  checkKeywords(name, value, report);
  for (const [keyword, entry] of keywords) checkEffect(keyword, entry, report);
  return { name, key, own: value.entries, keywords, inheritsVariable: inherit.variables };
}

function checkFile({ root }: CiFile, report: CiReport): void {
  for (const [keyword, { key, value }] of root.entries) {
    const effect = Object.hasOwn(IGNORED_GLOBAL_KEYWORDS, keyword) ? IGNORED_GLOBAL_KEYWORDS[keyword] : undefined;
    if (effect !== undefined) {
      report.warn(key, { code: "keyword-not-honoured", message: `"${keyword}" has no effect: ${effect}` });
    } else if (keyword === "spec") {
      report.error(key, {
        code: "invalid-file",
        message: `"spec" belongs to a document of its own before the configuration`,
        hint: `Write "---" between the two.`,
      });
    } else if (keyword === "include" && !isEmpty(value)) {
      report.error(key, {
        code: "not-supported",
        message: `"include" is not supported: what the other files say about the job would be left out`,
      });
    }
  }
}

function isEmpty(node: YamlNode): boolean {
  return isNothing(node) || (node.kind === "list" && node.tag === undefined && node.items.length === 0);
}

function readDefaults({ root }: CiFile, report: CiReport): ReadonlyMap<string, YamlEntry> {
  const defaults = new Map<string, YamlEntry>();
  const node = root.entries.get("default")?.value;
  if (node?.tag === REFERENCE_TAG) {
    reportReference(node, "default", report);
  } else if (node?.kind === "mapping") {
    for (const [keyword, entry] of node.entries) {
      if (DEFAULT_KEYWORDS.includes(keyword)) defaults.set(keyword, entry);
      else reportUnknown(`"default"`, { keyword, entry, known: DEFAULT_KEYWORDS }, report);
    }
  } else if (node !== undefined && !isNothing(node)) {
    report.error(node, { code: "invalid-file", message: `"default" is not a mapping of keywords` });
  }
  for (const keyword of TOP_LEVEL_DEFAULTS) {
    const entry = root.entries.get(keyword);
    if (entry === undefined) continue;
    if (defaults.has(keyword)) {
      report.error(entry.key, { code: "conflicting-keys", message: `"${keyword}" is also in "default"` });
    }
    defaults.set(keyword, entry);
  }
  return defaults;
}

function checkKeywords(name: string, job: YamlMapping, report: CiReport): void {
  for (const [keyword, entry] of job.entries) {
    if (!JOB_KEYWORDS.includes(keyword)) {
      reportUnknown(`The job ${quote(name)}`, { keyword, entry, known: JOB_KEYWORDS }, report);
    }
  }
}

function checkEffect(keyword: string, { key }: YamlEntry, report: CiReport): void {
  if (HONOURED_KEYWORDS.includes(keyword)) return;
  if (Object.hasOwn(UNSUPPORTED_KEYWORDS, keyword)) {
    report.error(key, { code: "not-supported", message: UNSUPPORTED_KEYWORDS[keyword] as string });
  } else if (Object.hasOwn(IGNORED_KEYWORDS, keyword)) {
    report.warn(key, {
      code: "keyword-not-honoured",
      message: `"${keyword}" has no effect: ${IGNORED_KEYWORDS[keyword] as string}`,
    });
  }
}

function reportUnknown(
  owner: string,
  { keyword, entry, known }: { readonly keyword: string; readonly entry: YamlEntry; readonly known: readonly string[] },
  report: CiReport,
): void {
  const guess = nearest(keyword, known);
  report.error(entry.key, {
    code: "unknown-key",
    message: `${owner} has an unknown key: ${quote(keyword)}`,
    hint: guess === undefined ? undefined : `Did you mean "${guess}"?`,
  });
}
