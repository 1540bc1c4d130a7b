import { readYaml, type YamlMapping, type YamlNode, type Places, positionIn, Report } from "@steps/source";
import type { Position, Source } from "@steps/model/diagnostic";
import { escapePointer } from "@steps/model/value";
import type { GithubCode, GithubReport } from "../action-rules.ts";

/** The state that the readers of one file share. */
export interface Reading {
  readonly report: GithubReport;
  readonly places: Places;
  /**
   * `action`: somebody else's file, read as leniently as GitHub's runner does. `workflow`: the user's own, in which GitHub's
   * service refuses more.
   */
  readonly file: "action" | "workflow";
  readonly advisesAuthor: boolean;
}

export function createReading(file: Reading["file"], advisesAuthor = false): Reading {
  return { report: new Report(), places: new Map(), file, advisesAuthor };
}

export function positionsOf({ places }: Reading): (pointer: string) => Position | undefined {
  return (pointer) => positionIn(places, pointer);
}

/** Remembers where a part of the baseline comes from. */
export function placeAt(reading: Reading, pointer: readonly (string | number)[], node: YamlNode | undefined): void {
  if (node === undefined) return;
  let text = "";
  for (const segment of pointer) text += `/${typeof segment === "number" ? segment : escapePointer(segment)}`;
  reading.places.set(text, node);
}

/** The one document of a file, which is a mapping; anything else is reported. */
export function readDocument(reading: Reading, source: Source): YamlMapping | undefined {
  const { report, file } = reading;
  const { documents, diagnostics, isBroken } = readYaml(source);
  report.include(diagnostics);
  if (isBroken) return undefined;
  const [root, second] = documents;
  const code: GithubCode = file === "action" ? "invalid-manifest" : "invalid-workflow";
  const what = file === "action" ? "manifest" : "workflow";
  if (second !== undefined) report.error(second, { code, message: `The ${what} has more than one document` });
  if (root?.kind === "mapping") return root;
  report.error(root, { code, message: `The ${what} is not a mapping` });
  return undefined;
}
