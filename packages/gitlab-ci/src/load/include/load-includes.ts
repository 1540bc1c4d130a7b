import { quote, type Source } from "@steps/model/diagnostic";
import type { YamlNode } from "@steps/source";
import { askForFiles, askForList, askForVerdict, type Asking } from "../asking.ts";
import { expandText } from "../expand-text.ts";
import { MAX_INCLUDES, MAX_TOTAL_LENGTH } from "../limits.ts";
import type { FileRequest, LoadedFile, LoadFailure } from "../load-file.ts";
import type { CiReport } from "../../ci-rules.ts";
import { type CiDocument, readDocument } from "../read-document.ts";
import type { Loading, OpenFile } from "./loading.ts";
import { type Include, type IncludeKind, type PlacedRequest, readIncludes } from "./read-includes.ts";
import { folderOf, hasWildcard, matchesWildcard } from "./wildcard.ts";

/** A file that an include asked for, read. */
export interface FoundFile {
  readonly file: LoadedFile;
  readonly document: CiDocument;
  readonly include: Include;
  readonly node: YamlNode;
  /** The request as a text. */
  readonly key: string;
}

/** Loads the files that the value of `include` names, those whose rules let them in, in order. */
export function* loadIncludes(
  value: YamlNode,
  { context }: Pick<OpenFile, "context">,
  { loading, kinds }: { readonly loading: Loading; readonly kinds: readonly IncludeKind[] },
): Asking<readonly FoundFile[]> {
  const { report, variables } = loading;
  const expand = (text: string): string =>
    expandText(text, (name) => (Object.hasOwn(variables, name) ? variables[name] : ""));
  const wanted: (PlacedRequest & { readonly include: Include; readonly key: string })[] = [];
  for (const include of readIncludes(value, { context, expand, kinds, report })) {
    if (include.rules !== undefined && !(yield* askForVerdict(include.rules, { context, report }))) continue;
    for (const placed of include.requests) {
      for (const request of yield* spread(placed, report)) {
        if (isFull(placed.node, loading)) return [];
        wanted.push({ request, node: placed.node, include, key: JSON.stringify(request) });
      }
    }
  }
  const missing = new Map(wanted.map(({ key, request }) => [key, request]));
  for (const key of loading.loaded.keys()) missing.delete(key);
  const answers = missing.size === 0 ? [] : yield* askForFiles([...missing.values()]);
  for (const [index, key] of [...missing.keys()].entries()) {
    loading.loaded.set(key, answers[index] as LoadedFile | LoadFailure);
  }
  return wanted.flatMap((one) => {
    const answer = loading.loaded.get(one.key) as LoadedFile | LoadFailure;
    if ("problem" in answer) return reportFailure(one, answer, report);
    const document = readOnce(answer.source, one.node, loading);
    return document === undefined ? [] : [{ ...one, file: answer, document }];
  });
}

function isFull(node: YamlNode, loading: Loading): boolean {
  loading.count += 1;
  if (loading.count <= MAX_INCLUDES) return false;
  if (!loading.isFull) {
    loading.report.error(node, {
      code: "too-many-includes",
      message: `The pipeline includes more than ${MAX_INCLUDES} files`,
    });
  }
  loading.isFull = true;
  return true;
}

function reportFailure({ request, node }: PlacedRequest, { problem, hint }: LoadFailure, report: CiReport): [] {
  const message = `Cannot include ${describe(request)}: ${problem}`;
  report.error(node, { code: "include-failed", message, hint });
  return [];
}

function describe(request: FileRequest): string {
  switch (request.kind) {
    case "local":
      return quote(request.path);
    case "project":
      return `${quote(request.path)} of the project ${quote(request.project)}`;
    case "remote":
      return quote(request.url);
    case "template":
      return `the template ${quote(request.name)}`;
    case "component":
      return `the component ${quote(request.address)}`;
    case "artifact":
      return `${quote(request.path)} of the artifacts of ${quote(request.job)}`;
  }
}

function* spread({ request, node }: PlacedRequest, report: CiReport): Asking<readonly FileRequest[]> {
  if (request.kind !== "local" || !hasWildcard(request.path)) return [request];
  const { path: pattern, context } = request;
  const answer = yield* askForList({ folder: folderOf(pattern), context });
  if ("problem" in answer) return reportFailure({ request, node }, answer, report);
  const paths = answer.filter((path) => /\.ya?ml$/i.test(path) && matchesWildcard(pattern, path));
  if (paths.length === 0) {
    report.note(node, { code: "include-failed", message: `No file is named like ${quote(pattern)}` });
  }
  return paths.toSorted((a, b) => (a < b ? -1 : 1)).map((path) => ({ kind: "local", path, context }));
}

function readOnce(source: Source, at: YamlNode, loading: Loading): CiDocument | undefined {
  if (loading.read.has(source)) return loading.read.get(source);
  loading.sources.add(source);
  loading.length += source.text.length;
  let document: CiDocument | undefined;
  if (loading.length > MAX_TOTAL_LENGTH) {
    const message = `The files together have more than ${MAX_TOTAL_LENGTH} characters`;
    loading.report.error(at, { code: "configuration-too-large", message });
  } else document = readDocument(source, loading.report);
  loading.read.set(source, document);
  return document;
}
