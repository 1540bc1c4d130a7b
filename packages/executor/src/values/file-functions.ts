import { closeSync, existsSync, globSync, openSync, readSync, statSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { defaultFunctions, ExpressionError, type FunctionTable, stringArgument } from "@steps/expression";
import { createSha256 } from "@steps/platform/runtime";

const MAX_FILES = 10_000;
const MAX_BYTES = 256 * 1024 * 1024;

const tables = new Map<string, FunctionTable>();

/**
 * Returns the functions of a step's expressions: those of every expression, and two that look at files, relative to the job's
 * directory (conformance section 6.7): `file_exists(path)`, and `hash_files(pattern, …)`, the SHA-256 over the names and contents
 * of the files that match, empty if none does.
 */
export function stepFunctions(workDir: string): FunctionTable {
  const known = tables.get(workDir);
  if (known !== undefined) return known;
  const table: FunctionTable = {
    ...defaultFunctions,
    file_exists: {
      minArgs: 1,
      maxArgs: 1,
      call: (args) => {
        const path = stringArgument(args, 0);
        return !path.includes("\0") && existsSync(resolve(workDir, path));
      },
    },
    hash_files: {
      minArgs: 1,
      maxArgs: 20,
      call: (args) =>
        hashFiles(
          workDir,
          args.map((_, index) => stringArgument(args, index)),
        ),
    },
  };
  tables.clear();
  tables.set(workDir, table);
  return table;
}

function hashFiles(workDir: string, patterns: readonly string[]): string {
  const files = filesOf(workDir, patterns);
  if (files.length === 0) return "";
  const hash = createSha256();
  let left = MAX_BYTES;
  for (const file of files) {
    const content = createSha256();
    left -= readInto(resolve(workDir, file), left, (chunk) => content.update(chunk));
    hash.update(`${content.digest("hex")}  ${file}\n`);
  }
  return hash.digest("hex");
}

function filesOf(workDir: string, patterns: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const pattern of patterns) {
    if (isAbsolute(pattern) || pattern.split("/").includes("..") || pattern.includes("\0")) {
      throw failed(`Cannot hash files: "${pattern.slice(0, 80)}" leaves the job's directory`);
    }
    for (const path of globSync(pattern, { cwd: workDir })) {
      const file = relative(workDir, resolve(workDir, path));
      if (statSync(resolve(workDir, file), { throwIfNoEntry: false })?.isFile() === true) found.add(file);
      if (found.size > MAX_FILES) throw failed(`Cannot hash files: more than ${MAX_FILES} match`);
    }
  }
  return [...found].toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function readInto(path: string, maxBytes: number, update: (chunk: Buffer) => void): number {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (cause) {
    throw failed(`Cannot hash files: "${path}" cannot be read`, cause);
  }
  try {
    const chunk = Buffer.allocUnsafe(256 * 1024);
    let total = 0;
    for (let count = readSync(fd, chunk); count > 0; count = readSync(fd, chunk)) {
      total += count;
      if (total > maxBytes) throw failed(`Cannot hash files: they are larger than ${MAX_BYTES / 1024 / 1024} MiB`);
      update(chunk.subarray(0, count));
    }
    return total;
  } finally {
    closeSync(fd);
  }
}

function failed(message: string, cause?: unknown): ExpressionError {
  return new ExpressionError("INVALID_ARGUMENT", message, { cause });
}
