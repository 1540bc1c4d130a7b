import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { schemaProblems, traceKind } from "./document-schemas.ts";
import { findMismatches } from "./find-mismatches.ts";
import type { Ended } from "./start-command.ts";

/** The expectations that a `run` case may have about its command. */
export const EXPECT_KEYS: readonly string[] = [
  "exit",
  "stdout",
  "stdoutContains",
  "stdoutExcludes",
  "stdoutJson",
  "stderr",
  "stderrContains",
  "stderrExcludes",
  "trace",
  "result",
  "files",
  "filesContain",
  "filesExcludes",
  "absent",
  "nowhere",
];

export interface Expected {
  readonly expect: Readonly<Record<string, unknown>>;
  readonly command: readonly string[];
  readonly dir: string;
  readonly home: string;
}

/** Compares what a command did with everything that is expected of it. @throws {Error} that names each difference */
export function assertExpectations(ended: Ended, expected: Expected): void {
  const problems = [...streamProblems(ended, expected.expect), ...documentProblems(ended, expected)];
  problems.push(...fileProblems(expected), ...leaks(ended, expected));
  if (problems.length === 0) return;
  const shown = [`exit code ${ended.exit}`, `stdout: ${ended.stdout}`, `stderr: ${ended.stderr}`];
  throw new Error([...problems, "", ...shown].join("\n"));
}

function streamProblems(ended: Ended, expect: Expected["expect"]): string[] {
  const problems = findMismatches(expect["exit"] ?? 0, ended.exit, "exit code");
  for (const name of ["stdout", "stderr"] as const) {
    const text = ended[name];
    const whole = expect[name];
    if (whole !== undefined && text !== whole) problems.push(`${name}: expected ${JSON.stringify(whole)}`);
    problems.push(
      ...contents(name, text, { contains: expect[`${name}Contains`], excludes: expect[`${name}Excludes`] }),
    );
  }
  return problems;
}

function contents(what: string, text: string, wanted: { contains?: unknown; excludes?: unknown }): string[] {
  const missing = listOf(wanted.contains).filter((part) => !text.includes(part));
  const unwanted = listOf(wanted.excludes).filter((part) => text.includes(part));
  return [
    ...missing.map((part) => `${what} does not hold ${JSON.stringify(part)}`),
    ...unwanted.map((part) => `${what} holds ${JSON.stringify(part)}`),
  ];
}

function documentProblems(ended: Ended, { expect, command, dir }: Expected): string[] {
  const read = (path: string | undefined, fallback: string) => {
    const file = resolve(dir, path ?? fallback);
    return existsSync(file) ? parse(readFileSync(file, "utf8")) : undefined;
  };
  const problems: string[] = [];
  if ("stdoutJson" in expect) problems.push(...findMismatches(expect["stdoutJson"], parse(ended.stdout), "stdout:"));
  if ("trace" in expect) {
    const trace = read(flagOf(command, "--output-file"), "trace.json");
    problems.push(...findMismatches(expect["trace"], trace, "trace:"), ...schemaProblems(traceKind(trace), trace));
  }
  if ("result" in expect) {
    const result = read(flagOf(command, "--step-results-file"), "step-results.json");
    problems.push(...findMismatches(expect["result"], result, "result:"), ...schemaProblems("step-results", result));
  }
  return problems;
}

function fileProblems({ expect, dir }: Expected): string[] {
  const problems: string[] = [];
  const read = (path: string): string | undefined => {
    const file = join(dir, path);
    if (existsSync(file)) return readFileSync(file, "utf8");
    problems.push(`there is no file ${path}`);
    return undefined;
  };
  for (const [path, content] of Object.entries((expect["files"] ?? {}) as Record<string, string>)) {
    const text = read(path);
    if (text !== undefined && text !== content) {
      problems.push(`${path}: expected ${JSON.stringify(content)}, found ${JSON.stringify(text)}`);
    }
  }
  for (const [key, part] of [
    ["filesContain", "contains"],
    ["filesExcludes", "excludes"],
  ] as const) {
    for (const [path, parts] of Object.entries((expect[key] ?? {}) as Record<string, unknown>)) {
      const text = read(path);
      if (text !== undefined) problems.push(...contents(path, text, { [part]: parts }));
    }
  }
  for (const path of listOf(expect["absent"])) {
    if (existsSync(join(dir, path))) problems.push(`there is a file ${path}`);
  }
  return problems;
}

// Streams, whatever a flag named as a place to write to, and all that was left in the home folder.
function leaks({ stdout, stderr }: Ended, { expect, command, dir, home }: Expected): string[] {
  const secrets = listOf(expect["nowhere"]);
  if (secrets.length === 0) return [];
  const written = ["--output-file", "--step-results-file"].flatMap((flag) => flagOf(command, flag) ?? []);
  const files = [...written.map((path) => resolve(dir, path)).filter(existsSync), ...filesBelow(home)];
  return [
    ...contents("stdout", stdout, { excludes: secrets }),
    ...contents("stderr", stderr, { excludes: secrets }),
    ...files.flatMap((path) => contents(path, readFileSync(path, "latin1"), { excludes: secrets })),
  ];
}

function filesBelow(dir: string): string[] {
  const entries = readdirSync(dir, { recursive: true, encoding: "utf8" }).map((path) => join(dir, path));
  return entries.filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

function flagOf(command: readonly string[], flag: string): string | undefined {
  const index = command.indexOf(flag);
  return index === -1 ? undefined : command[index + 1];
}

function listOf(value: unknown): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new Error(`Not a list of texts: ${JSON.stringify(value)}`);
  return value.map(String);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new Error(`Not JSON: ${text.slice(0, 500)}`, { cause });
  }
}
