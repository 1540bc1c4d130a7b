import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf, type Value } from "@steps/model";
import { canonicalJson } from "@steps/model/value";
import type { Difference, Expectations } from "./test-case.ts";

/** The facts about a step that ended. */
export interface Happened {
  readonly exit: number;
  readonly outputs: Readonly<Record<string, Value>>;
  readonly exports: Readonly<Record<string, Value>>;
  /** The folder that it ran in: absolute. */
  readonly folder: string;
  readonly output: string;
  /** The message of its failure. */
  readonly failure: string | undefined;
}

const MAX_FILE_BYTES = 16 * 1024 * 1024;
const ABSENT = "(absent)";

/** Compares what a step did with all that is expected of it. */
export function compareCase(expect: Expectations, happened: Happened): readonly Difference[] {
  const { exit, outputs, exports, folder, output, failure } = happened;
  return [
    ...(exit === expect.exit ? [] : [exitDifference(expect.exit, happened)]),
    ...compareValues("outputs", expect.outputs, outputs),
    ...compareValues("exports", expect.exports, exports),
    ...Object.entries(expect.files).flatMap(([path, wanted]) => compareFile(folder, path, wanted)),
    ...expect.messages
      .filter((text) => !output.includes(text) && failure?.includes(text) !== true)
      .map((text) => ({ what: "messages", expected: text, actual: "(not in the output)" })),
  ];
}

function exitDifference(expected: number, { exit, failure }: Happened): Difference {
  return {
    what: "exit",
    expected: String(expected),
    actual: failure === undefined ? String(exit) : `${exit}: ${failure}`,
  };
}

function compareValues(
  what: string,
  expected: Readonly<Record<string, Value>>,
  actual: Readonly<Record<string, Value>>,
): readonly Difference[] {
  return Object.entries(expected).flatMap(([name, value]) => {
    const found = Object.hasOwn(actual, name) ? (actual[name] as Value) : undefined;
    // A variable is text, whatever it is written as.
    const wanted = what === "exports" && value !== null && typeof value !== "object" ? String(value) : value;
    if (found !== undefined && canonicalJson(found) === canonicalJson(wanted)) return [];
    const isText = typeof wanted === "string" && typeof found === "string";
    return [
      {
        what: `${what}.${name}`,
        expected: isText ? wanted : show(wanted),
        actual: found === undefined ? `${ABSENT}${namesOf(actual)}` : isText ? found : show(found),
      },
    ];
  });
}

function namesOf(actual: Readonly<Record<string, Value>>): string {
  const names = Object.keys(actual);
  return names.length === 0 ? "" : `, there are ${names.join(", ")}`;
}

function compareFile(folder: string, path: string, wanted: string | readonly string[] | null): readonly Difference[] {
  const found = readOptional(join(folder, path));
  const what = `files.${path}`;
  if (wanted === null) return found === undefined ? [] : [{ what, expected: ABSENT, actual: found }];
  if (found === undefined) return [{ what, expected: [wanted].flat().join("\n"), actual: ABSENT }];
  if (typeof wanted === "string") return found === wanted ? [] : [{ what, expected: wanted, actual: found }];
  return wanted
    .filter((text) => !found.includes(text))
    .map((text) => ({ what: `${what} contains`, expected: text, actual: found }));
}

/** The text of a regular file; a pipe would make the reader wait. */
function readOptional(path: string): string | undefined {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(file);
      if (!stat.isFile()) return "(no file)";
      return stat.size > MAX_FILE_BYTES ? `(a file of ${stat.size} bytes)` : readFileSync(file, "utf8");
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : `(${messageOf(error)})`;
  }
}

function show(value: Value): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : JSON.stringify(value);
}
