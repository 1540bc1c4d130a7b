import { closeSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { Resource } from "@steps/model/event";
import { findProgram } from "@steps/platform/processes";
import { createSha256 } from "@steps/platform/runtime";

/** Larger programs are named without a digest. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;
const MAX_KNOWN = 1000;
/** The longest time between two times that a file system gives: two changes that are closer may have the same. */
const CLOCK_MS = 20n;
/** A script, its interpreter, and the interpreter of that. */
const MAX_INTERPRETERS = 2;

interface Facts {
  /** By the real path of the program: a file may have several. */
  readonly resources: Map<string, Resource>;
  readonly digest: Readonly<Record<string, string>>;
  /** The words that follow `#!` in its first line; `undefined` for a program that is no script. */
  readonly interpreter: readonly string[] | undefined;
}

// Hashing a shell takes a millisecond, so it is done once for each state of the file.
const known = new Map<string, Facts>();

/** The program and, for a script, what interprets it. `env` in its first line is looked through. */
export function toolsOf(program: string, options: { path: string | undefined; workDir: string }): readonly Resource[] {
  const tools: Resource[] = [];
  let file: string | undefined = program;
  for (let level = 0; file !== undefined && level <= MAX_INTERPRETERS; level++) {
    const facts = addTool(tools, file);
    const [interpreter, argument] = facts?.interpreter ?? [];
    if (interpreter === undefined) break;
    file = resolve(options.workDir, interpreter);
    if (basename(file) === "env") {
      addTool(tools, file);
      file = targetOfEnv(argument ?? "", options);
    }
  }
  return tools;
}

function addTool(tools: Resource[], file: string): Facts | undefined {
  try {
    const uri = realpathSync.native(file);
    const facts = factsOf(uri);
    tools.push(resourceOf(uri, facts));
    return facts;
  } catch {
    // It is gone or closed to us: then the attempt to run it says so.
    return undefined;
  }
}

// The same object for the same program: what is made of it is made once.
function resourceOf(uri: string, { resources, digest }: Facts): Resource {
  let resource = resources.get(uri);
  if (resource === undefined) {
    resource = { kind: "binary", uri, requestedVersion: "", resolvedVersion: "", digest, isMutable: true };
    resources.set(uri, resource);
  }
  return resource;
}

function factsOf(file: string): Facts {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
  const atMs = BigInt(Date.now());
  const key = `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  const before = known.get(key);
  if (before) return before;
  const facts = { ...readFacts(file, Number(size)), resources: new Map<string, Resource>() };
  // A step may change it again before the clock goes on, and then the next one runs something else.
  const isSettled = ctimeNs / 1_000_000n + CLOCK_MS < atMs;
  if (!isSettled) return facts;
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(key, facts);
  return facts;
}

function readFacts(file: string, size: number): Omit<Facts, "resources"> {
  let fd: number;
  try {
    fd = openSync(file, "r");
  } catch {
    // Programs may be executable and not readable.
    return { digest: {}, interpreter: undefined };
  }
  try {
    const chunk = Buffer.allocUnsafe(Math.min(256 * 1024, Math.max(size, 256)));
    let count = readSync(fd, chunk, 0, chunk.byteLength, null);
    const interpreter = interpreterOf(chunk.subarray(0, Math.min(count, 256)));
    if (size > MAX_HASHED_BYTES) return { digest: {}, interpreter };
    const hash = createSha256();
    for (; count > 0; count = readSync(fd, chunk, 0, chunk.byteLength, null)) hash.update(chunk.subarray(0, count));
    return { digest: { sha256: hash.digest("hex") }, interpreter };
  } finally {
    closeSync(fd);
  }
}

// The kernel splits the line into the interpreter and one argument.
function interpreterOf(start: Buffer): readonly string[] | undefined {
  if (start[0] !== 0x23 || start[1] !== 0x21) return undefined;
  const line = start.toString("utf8", 2).split("\n", 1)[0] as string;
  const [, interpreter, argument = ""] = /^[ \t]*([^ \t]+)[ \t]*(.*?)[ \t\r]*$/.exec(line) ?? [];
  return interpreter === undefined || interpreter.includes("\0") ? undefined : [interpreter, argument];
}

function targetOfEnv(argument: string, options: { path: string | undefined; workDir: string }): string | undefined {
  const name = argument.split(/[ \t]+/).find((word) => word !== "" && !word.startsWith("-") && !word.includes("="));
  return name === undefined ? undefined : findProgram(name, options);
}
