import { dirname, posix } from "node:path";
import type { Value } from "@steps/model";
import { type Diagnostic, positionAt, type Source } from "@steps/model/diagnostic";
import { childOf, describeNode, readYaml, Report, toValue, type YamlMapping, type YamlNode } from "@steps/source";
import { unknownKeyHint } from "@steps/source/keys";
import { absolute } from "../files/absolute.ts";
import type { Expectations, TestCase } from "./test-case.ts";

type Code = "unknown-key" | "wrong-type" | "missing-key" | "duplicate-name" | "path-outside";

const FILE_KEYS = ["step", "cases"];
const CASE_KEYS = ["name", "step", "inputs", "env", "vars", "secrets", "files", "expect"];
const EXPECT_KEYS = ["exit", "outputs", "exports", "files", "messages"];

/** The cases of a file, with everything that is wrong with it. */
export interface TestFile {
  readonly cases: readonly TestCase[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Whether a path stays in the folder that it starts from. */
function isPlainPath(path: string): boolean {
  const whole = posix.normalize(path);
  return (
    whole !== "." && whole !== ".." && !whole.startsWith("../") && !posix.isAbsolute(whole) && !path.includes("\0")
  );
}

/** Reads a file of test cases: `step`, the folder of the file by default, and `cases`. */
export function readTestFile(source: Source): TestFile {
  const { documents, diagnostics } = readYaml(source);
  const reader = new Reader(source);
  reader.report.include(diagnostics);
  const [document, second] = documents;
  if (second !== undefined) reader.wrong(second, "There is more than one document");
  const cases = document === undefined ? [] : reader.file(document);
  return { cases, diagnostics: reader.report.finish() };
}

class Reader {
  readonly report = new Report<Code>();
  readonly #source: Source;
  readonly #folder: string;

  constructor(source: Source) {
    this.#source = source;
    this.#folder = absolute(dirname(source.name));
  }

  file(document: YamlNode): readonly TestCase[] {
    const file = this.#mapping(document, "A test file", FILE_KEYS);
    if (file === undefined) return [];
    const cases = childOf(file, "cases");
    if (cases === undefined) {
      this.report.error(document, {
        code: "missing-key",
        message: '"cases" is missing',
        hint: "It is a list of cases.",
      });
      return [];
    }
    if (cases.kind !== "list") {
      this.wrong(cases, `"cases" is a list, this is ${describeNode(cases)}`);
      return [];
    }
    const names = new Set<string>();
    return cases.items.flatMap((node) => this.#case(node, childOf(file, "step"), names) ?? []);
  }

  wrong(at: YamlNode, message: string, hint?: string): void {
    this.report.error(at, { code: "wrong-type", message, hint });
  }

  #case(node: YamlNode, step: YamlNode | undefined, names: Set<string>): TestCase | undefined {
    const found = this.#mapping(node, "A case", CASE_KEYS);
    if (found === undefined) return undefined;
    const name = childOf(found, "name");
    if (name?.kind !== "scalar" || name.text === "") {
      this.report.error(name ?? node, { code: "missing-key", message: "A case has a name", hint: 'Write name: "…".' });
      return undefined;
    }
    if (names.has(name.text))
      this.report.error(name, { code: "duplicate-name", message: `There is a case "${name.text}" already` });
    names.add(name.text);
    const ownStep = childOf(found, "step") ?? step;
    return {
      name: name.text,
      file: this.#source.name,
      folder: this.#folder,
      position: positionAt(this.#source, node.offset, 0),
      step: ownStep === undefined ? "./" : toValue(ownStep),
      inputs: this.#values(childOf(found, "inputs"), "inputs"),
      env: this.#values(childOf(found, "env"), "env"),
      vars: this.#texts(childOf(found, "vars"), "vars"),
      secrets: this.#texts(childOf(found, "secrets"), "secrets"),
      files: this.#paths(this.#texts(childOf(found, "files"), "files"), childOf(found, "files")),
      expect: this.#expect(childOf(found, "expect")),
    };
  }

  #expect(node: YamlNode | undefined): Expectations {
    const found = node && this.#mapping(node, '"expect"', EXPECT_KEYS);
    const exit = childOf(found, "exit");
    const code = exit?.kind === "scalar" ? exit.value : undefined;
    const isCode = typeof code === "number" && Number.isInteger(code) && code >= 0 && code <= 255;
    if (exit !== undefined && !isCode) this.wrong(exit, '"exit" is a number from 0 to 255');
    const files = childOf(found, "files");
    return {
      exit: isCode ? code : 0,
      outputs: this.#values(childOf(found, "outputs"), "outputs"),
      exports: this.#values(childOf(found, "exports"), "exports"),
      files: this.#paths(this.#fileTexts(files), files),
      messages: this.#list(childOf(found, "messages"), "messages"),
    };
  }

  #fileTexts(node: YamlNode | undefined): Record<string, string | readonly string[] | null> {
    const found: Record<string, string | readonly string[] | null> = {};
    for (const [path, { value }] of this.#entries(node, "files")) {
      if (value.kind === "scalar") found[path] = value.value === null ? null : value.text;
      else if (value.kind === "mapping" && this.#mapping(value, "A file", ["contains"]) !== undefined)
        found[path] = this.#list(childOf(value, "contains"), "contains");
      else this.wrong(value, "A file is its text, {contains: …}, or null if there is none");
    }
    return found;
  }

  #paths<T>(files: Record<string, T>, node: YamlNode | undefined): Record<string, T> {
    for (const path of Object.keys(files)) {
      if (isPlainPath(path)) continue;
      const key = node?.kind === "mapping" ? node.entries.get(path)?.key : node;
      this.report.error(key, { code: "path-outside", message: `"${path}" is no path in the folder of the step` });
    }
    return files;
  }

  #list(node: YamlNode | undefined, name: string): readonly string[] {
    if (node === undefined) return [];
    const items = node.kind === "list" ? node.items : [node];
    return items.flatMap((item) => {
      if (item.kind === "scalar" && item.value !== null) return [item.text];
      this.wrong(item, `"${name}" is a text or a list of texts, this is ${describeNode(item)}`);
      return [];
    });
  }

  #texts(node: YamlNode | undefined, name: string): Record<string, string> {
    const found: Record<string, string> = {};
    for (const [key, { value }] of this.#entries(node, name)) {
      if (value.kind === "scalar" && value.value !== null) found[key] = value.text;
      else this.wrong(value, `"${key}" is a text, this is ${describeNode(value)}`);
    }
    return found;
  }

  #values(node: YamlNode | undefined, name: string): Record<string, Value> {
    return Object.fromEntries(Array.from(this.#entries(node, name), ([key, { value }]) => [key, toValue(value)]));
  }

  #entries(node: YamlNode | undefined, name: string): YamlMapping["entries"] {
    if (node === undefined) return new Map();
    if (node.kind === "mapping") return node.entries;
    this.wrong(node, `"${name}" is a mapping, this is ${describeNode(node)}`);
    return new Map();
  }

  #mapping(node: YamlNode, what: string, known: readonly string[]): YamlMapping | undefined {
    if (node.kind !== "mapping") {
      this.wrong(node, `${what} is a mapping, this is ${describeNode(node)}`);
      return undefined;
    }
    for (const [name, { key }] of node.entries) {
      if (known.includes(name)) continue;
      this.report.error(key, {
        code: "unknown-key",
        message: `Unknown key "${name}"`,
        hint: unknownKeyHint(name, { known }),
      });
    }
    return node;
  }
}
