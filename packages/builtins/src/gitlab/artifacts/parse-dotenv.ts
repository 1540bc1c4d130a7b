import { readFileSync, statSync } from "node:fs";
import { createObject } from "@steps/model";
import { decodeUtf8, quote, type ZipSource } from "@steps/transfer/archive";
import { BuiltinError } from "../../builtin-error.ts";

const MAX_BYTES = 5 * 1024;
// The largest number that any plan of GitLab allows.
const MAX_VARIABLES = 150;
const MAX_KEY_CHARS = 255;

/**
 * Reads a dotenv report as strictly as GitLab does: each line is `KEY=VALUE`, so that neither empty lines nor comments are
 * allowed; quotes are part of the value; nothing is replaced in it; the last value of a key counts.
 *
 * @param name of the file, for messages
 * @throws {BuiltinError} BUILTIN_FAILED with the line
 */
export function parseDotenv(text: string, name: string): Readonly<Record<string, string>> {
  const variables = createObject<string>();
  const lines = text.replace(/^\ufeff/, "").split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const [index, line] of lines.entries()) {
    const match = /^(.*?)=(.*)$/s.exec(line);
    const fail = (problem: string): BuiltinError => refused(`${name}:${index + 1}`, problem);
    if (match === null) throw fail(line.trim() === "" ? "the line is empty" : `${quote(line)} is not KEY=VALUE`);
    const key = (match[1] ?? "").trim();
    if (!/^[a-zA-Z0-9_]+$/.test(key)) throw fail(`the key ${quote(key)} may only have letters, digits and "_"`);
    if (key.length > MAX_KEY_CHARS) throw fail(`the key has more than ${MAX_KEY_CHARS} characters`);
    const value = (match[2] ?? "").trim();
    if (value.includes("\0")) throw fail("the value holds a null character");
    variables[key] = value;
  }
  return variables;
}

/** The variables of all files of a dotenv report. @throws {BuiltinError} BUILTIN_FAILED */
export function readDotenvFiles(files: readonly ZipSource[]): Readonly<Record<string, string>> {
  const variables = createObject<string>();
  let bytes = 0;
  for (const { name, path } of files) {
    bytes += statSync(path).size;
    if (bytes > MAX_BYTES) throw refused(name, `a report of variables may have ${MAX_BYTES} bytes`);
    const text = decodeUtf8(readFileSync(path));
    if (text === undefined) throw refused(name, "it is not UTF-8");
    Object.assign(variables, parseDotenv(text, name));
  }
  const count = Object.keys(variables).length;
  if (count > MAX_VARIABLES) throw refused("dotenv", `it has ${count} variables; ${MAX_VARIABLES} are allowed`);
  return variables;
}

function refused(where: string, problem: string): BuiltinError {
  return new BuiltinError("BUILTIN_FAILED", `Cannot read the dotenv report: ${where}: ${problem}`);
}
