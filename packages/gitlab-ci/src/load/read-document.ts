import type { Source } from "@steps/model/diagnostic";
import { readYaml, type YamlMapping } from "@steps/source";
import { REFERENCE_TAG } from "../reference-tag.ts";
import { MAX_FILE_LENGTH } from "./limits.ts";
import type { CiReport } from "../ci-rules.ts";
import { isMapping, isNull } from "./nodes.ts";

/** The documents of a file. */
export interface CiDocument {
  readonly source: Source;
  /** The document before `---`; absent for a file without a header. */
  readonly header: YamlMapping | undefined;
  readonly config: YamlMapping;
}

/** Reads a file as GitLab does: of two equal keys the last one counts. `undefined`: it is no configuration, which was reported. */
export function readDocument(source: Source, report: CiReport): CiDocument | undefined {
  if (source.text.length > MAX_FILE_LENGTH) {
    report.error(
      { source, offset: 0, length: 1 },
      {
        code: "text-too-large",
        message: `The file has ${source.text.length} characters, GitLab takes ${MAX_FILE_LENGTH}`,
      },
    );
    return undefined;
  }
  const { documents, diagnostics, isBroken } = readYaml(source, { tags: [REFERENCE_TAG], takesLastKey: true });
  report.include(diagnostics);
  if (isBroken) return undefined;
  const [first, second, third] = documents;
  const header = isMapping(first) && first.entries.has("spec") && second !== undefined ? first : undefined;
  const config = header === undefined ? first : second;
  const surplus = header === undefined ? second : third;
  if (surplus !== undefined) {
    report.error(surplus, {
      code: "invalid-file",
      message: "The file has more documents than a header and a configuration",
    });
  }
  if (isMapping(config) && !(header === undefined && config.entries.has("spec"))) return { source, header, config };
  if (isMapping(config)) {
    report.error(config.entries.get("spec")?.key, {
      code: "invalid-file",
      message: `"spec" belongs to a document of its own before the configuration`,
      hint: `Write "---" between the two.`,
    });
    return undefined;
  }
  const isEmpty = config === undefined || isNull(config);
  const message = isEmpty ? "The file is empty" : "The file is not a mapping of keywords and jobs";
  report.error(config ?? { source, offset: 0, length: 1 }, { code: "invalid-file", message });
  return undefined;
}
