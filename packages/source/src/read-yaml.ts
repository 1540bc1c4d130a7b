import { checkOptionNames, type OptionNames, messageOf } from "@steps/model";
import type { Diagnostic, Source } from "@steps/model/diagnostic";
import { type CST, Composer, type Document, Lexer, Parser } from "yaml";
import { Report } from "./report.ts";
import type { SourceCode } from "./source-rules.ts";
import { MAX_DEPTH, MAX_DIAGNOSTICS, MAX_DOCUMENTS, MAX_TEXT_LENGTH, MAX_TOKENS } from "./limits.ts";
import { readJson } from "./read-json.ts";
import { reportMalformed } from "./malformed.ts";
import { explainYamlProblem } from "./explain-yaml.ts";
import { buildYamlTree } from "./yaml-tree.ts";
import { recall, remember } from "./recent-reads.ts";
import type { YamlNode } from "./yaml-node.ts";

/** The options of `readYaml()`. */
export interface ReadYamlOptions {
  /** Tags that are kept on their nodes instead of being errors: `["!reference"]`. */
  readonly tags?: readonly string[];
  /** Says that of two equal keys the last one counts, with a warning, as Ruby's reader has it; by default they are an error. */
  readonly takesLastKey?: boolean;
}

/** The result of `readYaml()`. Diagnostics are in the order of the text. */
export interface YamlDocuments {
  readonly documents: readonly YamlNode[];
  readonly diagnostics: readonly Diagnostic<SourceCode>[];
  /** The text is not YAML, or more than the limits allow: the documents are not what the author meant. */
  readonly isBroken: boolean;
}

const OPTION_NAMES: OptionNames<ReadYamlOptions> = { tags: true, takesLastKey: true };

/**
 * Reads a text as YAML 1.2 (core schema) with merge keys; JSON is read as the YAML it is. Bounded in size, nesting,
 * documents and alias expansion. Never throws: what is wrong is a diagnostic. A text that was read a moment ago may give the same
 * documents, which therefore must not be changed.
 */
export function readYaml(source: Source, options: ReadYamlOptions = {}): YamlDocuments {
  checkOptionNames("readYaml()", options, OPTION_NAMES);
  const given = { source, options };
  return recall(given) ?? remember(given, read(source, options));
}

function read(source: Source, options: ReadYamlOptions): YamlDocuments {
  const report = new Report<never, SourceCode>();
  const broken = (): YamlDocuments => ({ documents: [], diagnostics: report.finish(), isBroken: true });
  if (!checkText(source, report)) return broken();
  try {
    const json = readJson(source);
    if (json !== undefined) return { documents: [json], diagnostics: report.finish(), isBroken: false };
    const parsed = parseDocuments(source, report);
    if (parsed === undefined || report.hasErrors) return broken();
    const trees = parsed.map((document) => buildYamlTree(document, { source, report, ...options }));
    return {
      documents: trees.map((tree) => tree.node),
      diagnostics: report.finish(),
      isBroken: trees.some((tree) => tree.isBroken),
    };
  } catch (error) {
    // The parser is not ours: what it stumbles over is the text's fault, and must not end the caller.
    report.error(
      { source, offset: 0, length: 1 },
      { code: "yaml-syntax", message: `Cannot read YAML: ${messageOf(error).slice(0, 200)}` },
    );
    return broken();
  }
}

// Other control characters are no YAML, and the parser's own marks among them would shift every position.
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;

function checkText(source: Source, report: Report): boolean {
  const { text } = source;
  if (text.length > MAX_TEXT_LENGTH) {
    report.error(
      { source, offset: 0, length: 1 },
      { code: "text-too-large", message: `The text has ${text.length} characters, ${MAX_TEXT_LENGTH} are allowed` },
    );
    return false;
  }
  if (reportMalformed(source, report)) return false;
  const control = CONTROL.exec(text);
  if (control) {
    const code = control[0].charCodeAt(0).toString(16).padStart(4, "0").toUpperCase();
    report.error(
      { source, offset: control.index, length: 1 },
      { code: "invalid-character", message: `The text holds a control character: U+${code}` },
    );
    return false;
  }
  const replaced = text.indexOf("\uFFFD");
  if (replaced !== -1) {
    report.warn(
      { source, offset: replaced, length: 1 },
      { code: "invalid-character", message: "The text holds U+FFFD, so it was probably not valid UTF-8" },
    );
  }
  return true;
}

function parseDocuments(source: Source, report: Report): readonly Document.Parsed[] | undefined {
  const tokens = parseTokens(source, report);
  if (tokens === undefined) return undefined;
  const composer = new Composer({
    version: "1.2",
    schema: "core",
    merge: false,
    resolveKnownTags: false,
    // The library compares every key with every other; the tree builder does it once per key.
    uniqueKeys: false,
    logLevel: "silent",
    prettyErrors: false,
  });
  capErrors(composer);
  const documents: Document.Parsed[] = [];
  for (const document of composer.compose(tokens)) {
    documents.push(document);
    reportParserErrors(document, source, report);
  }
  const rest = composer.streamInfo();
  reportParserErrors(rest, source, report);
  return documents;
}

/** The library makes an Error with its stack for each problem: a text of nothing but problems would take a minute. */
function capErrors(composer: Composer): void {
  const report = composer["onError"];
  let left = MAX_DIAGNOSTICS;
  composer["onError"] = (...problem: readonly unknown[]) => {
    if (left > 0) report(...problem);
    left -= 1;
  };
}

/** The tokens of the documents; `undefined` when they are nested too deep or are too many, before memory is spent on them. */
function parseTokens(source: Source, report: Report): readonly CST.Token[] | undefined {
  const lexer = new Lexer();
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let documents = 0;
  let errors = 0;
  let lexemes = 0;
  const take = (found: Iterable<CST.Token>): void => {
    for (const token of found) {
      tokens.push(token);
      if (token.type === "document") documents += 1;
      if (token.type === "error") errors += 1;
    }
  };
  for (const lexeme of lexer.lex(source.text)) {
    take(parser.next(lexeme));
    // The parser takes a byte order mark for text before the first item, whose keys would stand one column further right.
    if (lexeme === "\uFEFF") parser["atNewLine"] = true;
    const at = { source, offset: parser.offset, length: 1 };
    // The stack holds the document and the scalar too.
    if (parser.stack.length > MAX_DEPTH + 2) {
      report.error(at, { code: "too-deep", message: `The text is nested deeper than ${MAX_DEPTH} levels` });
      return undefined;
    }
    if (documents > MAX_DOCUMENTS) {
      report.error(at, {
        code: "too-many-documents",
        message: `The text has more than ${MAX_DOCUMENTS} documents`,
      });
      return undefined;
    }
    if (++lexemes > MAX_TOKENS) {
      const message = `The text has more than ${MAX_TOKENS} keys, values and marks`;
      report.error(at, { code: "text-too-large", message, hint: "Split it into several files." });
      return undefined;
    }
    if (errors > MAX_DIAGNOSTICS) break;
  }
  take(parser.end());
  return tokens;
}

function reportParserErrors(found: Pick<Document.Parsed, "errors" | "warnings">, source: Source, report: Report): void {
  let explained: number | undefined;
  for (const problem of found.errors) {
    // Further problems in a line follow from the parser's first problem there.
    const line = source.text.lastIndexOf("\n", problem.pos[0] - 1);
    if (line === explained) continue;
    explained = line;
    const { offset, length, ...rest } = explainYamlProblem(source, problem);
    report.error({ source, offset, length }, () => ({ code: "yaml-syntax", ...rest }));
  }
  for (const { code, pos, message } of found.warnings) {
    // The tree builder knows which tags are welcome.
    if (code === "TAG_RESOLVE_FAILED") continue;
    report.warn({ source, offset: pos[0], length: Math.max(1, pos[1] - pos[0]) }, () => ({
      code: "yaml-syntax",
      message: message.slice(0, 300).replace(/\.$/, ""),
    }));
  }
}
