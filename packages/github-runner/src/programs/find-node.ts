import { existsSync, readdirSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { ExecuteError } from "@steps/executor/kit";
import { findProgram, runBriefly } from "@steps/platform/processes";
import type { NodeProgram } from "@steps/platform/runtime";

/** The places where a Node.js for an action is looked for. */
export interface FindNodeOptions {
  /** The `PATH` of the step; entries that are not absolute are passed over. */
  readonly path: string | undefined;
  /** `RUNNER_TOOL_CACHE`. */
  readonly toolCacheDir: string | undefined;
  /** Holds what is configured: `STEP_RUNNER_NODE20=/opt/node20/bin/node`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The Node.js that runs us. Absent in a runner that is packed as one executable. */
  readonly own: NodeProgram | undefined;
}

/** The Node.js that an action runs with. */
export interface FoundNode {
  /** Absolute. */
  readonly program: string;
  /** `24.1.0` */
  readonly version: string;
  /** A note for the user about the choice; absent: there is nothing to say. */
  readonly note?: { readonly code: NodeNoteCode; readonly message: string };
}

/** Another major than the one asked for; our own runtime, as there was nothing better; what is configured does not run. */
type NodeNoteCode = "node-other-version" | "node-own-runtime" | "node-not-usable";

type Version = readonly [major: number, minor: number, patch: number];

interface Candidate {
  readonly program: string;
  readonly version: Version;
}

const PROBE_TIMEOUT_MS = 2000;
const MAX_PROBES_BY_NAME = 3;
const MAX_KNOWN = 200;
/** Actions of older lines are run with this one or a newer one, as GitHub does. */
const OLDEST_MAJOR = 20;
/** Names of programs, `node21` …, are looked for up to this many lines above what is asked. */
const NEWER_LINES = 20;
const NODE = /^node(\d{1,3})$/i;
const TOOL_VERSION = /^v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})$/;

// The key holds the identity of the file, because the answer to `--version` changes only when the file does.
const known = new Map<string, Promise<Version | undefined>>();

/**
 * Chooses the Node.js for `runs.using`: the exact major if there is one (configured, our own runtime, tool cache, `node20` or
 * `node` on the PATH), else the newest that is not older (from the same places), else our own runtime. Only a program on the
 * PATH and a configured one are started to learn their version: once for each state of the file, for at most 2 s.
 *
 * @throws {ExecuteError} REFERENCE_INVALID if `using` is no `nodeNN`, COMMAND_NOT_FOUND if there is no Node.js at all
 */
export async function findNode(using: string, options: FindNodeOptions): Promise<FoundNode> {
  const asked = askedMajor(using);
  const problems: string[] = [];
  const found = (await findExact(asked, options, problems)) ?? (await findNewest(asked, options, problems));
  const chosen = found ?? ownRuntime(options);
  if (chosen === undefined) throw noNode(using, problems);
  const note = noteFor(chosen, { asked, using, isOwn: found === undefined, problems });
  return { program: chosen.program, version: chosen.version.join("."), note };
}

/**
 * Begins to learn the version of the program that `findNode()` would choose for `runs.using`, so that the answer is there when it
 * is called with the same options. Never fails.
 */
export function expectNode(using: string, options: FindNodeOptions): void {
  const asked = Number(NODE.exec(using)?.[1] ?? Number.NaN);
  if (!Number.isNaN(asked)) findExact(Math.max(asked, OLDEST_MAJOR), options, []).catch(() => undefined);
}

function askedMajor(using: string): number {
  const major = Number(NODE.exec(using)?.[1] ?? Number.NaN);
  if (Number.isNaN(major))
    throw new ExecuteError("REFERENCE_INVALID", `The action runs with "${using}", which is no Node.js`);
  return Math.max(major, OLDEST_MAJOR);
}

function noteFor(
  { program, version }: Candidate,
  facts: { asked: number; using: string; isOwn: boolean; problems: readonly string[] },
): FoundNode["note"] {
  const { asked, using, isOwn, problems } = facts;
  const said = problems.length === 0 ? "" : `${problems.join("; ")}; `;
  const shown = version.join(".");
  if (version[0] === asked) {
    return problems.length === 0 ? undefined : { code: "node-not-usable", message: problems.join("; ") };
  }
  const older = version[0] < asked ? ", which is older" : "";
  return isOwn
    ? {
        code: "node-own-runtime",
        message: `${said}The action asks for ${using} and there is no Node.js ${asked} or newer: the runner's own ${shown} runs it${older}`,
      }
    : {
        code: "node-other-version",
        message: `${said}The action asks for ${using} and there is no Node.js ${asked}: ${shown} runs it${older} ("${program}")`,
      };
}

async function findExact(asked: number, options: FindNodeOptions, problems: string[]): Promise<Candidate | undefined> {
  const configured = await configuredNode(asked, options, problems);
  // Somebody has named it for this line, so it is taken whatever it says it is.
  if (configured !== undefined) return configured;
  const own = ownRuntime(options);
  if (own?.version[0] === asked) return own;
  const tool = newest(toolCacheNodes(options.toolCacheDir).filter(({ version }) => version[0] === asked));
  if (tool !== undefined) return tool;
  for await (const candidate of nodesOnPath([`node${asked}`, "node"], options)) {
    if (candidate.version[0] === asked) return candidate;
  }
  return undefined;
}

async function findNewest(asked: number, options: FindNodeOptions, problems: string[]): Promise<Candidate | undefined> {
  const candidates = toolCacheNodes(options.toolCacheDir);
  for (const name of Object.keys(options.env ?? {})) {
    const line = Number(/^STEP_RUNNER_NODE(\d{1,3})$/.exec(name)?.[1] ?? 0);
    const configured = line > asked ? await configuredNode(line, options, problems) : undefined;
    if (configured !== undefined) candidates.push(configured);
  }
  const names = Array.from({ length: NEWER_LINES }, (_, index) => `node${asked + NEWER_LINES - index}`);
  for await (const candidate of nodesOnPath([...names, "node"], options)) candidates.push(candidate);
  const newer = newest(candidates.filter(({ version }) => version[0] >= asked));
  // Without a runtime of our own an older one is better than none.
  return newer ?? (options.own === undefined ? newest(candidates) : undefined);
}

function noNode(using: string, problems: readonly string[]): ExecuteError {
  const said = problems.length === 0 ? "" : ` (${problems.join("; ")})`;
  return new ExecuteError(
    "COMMAND_NOT_FOUND",
    `exec: the action asks for ${using} and there is no Node.js here${said}`,
    {
      hint: `Install one, or name its program in STEP_RUNNER_${using.toUpperCase()}.`,
    },
  );
}

function ownRuntime({ own }: FindNodeOptions): Candidate | undefined {
  return own && { program: own.program, version: parseVersion(own.version) ?? [0, 0, 0] };
}

async function configuredNode(
  line: number,
  options: FindNodeOptions,
  problems: string[],
): Promise<Candidate | undefined> {
  const name = `STEP_RUNNER_NODE${line}`;
  const program = options.env?.[name];
  if (program === undefined || program === "") return undefined;
  const version = isAbsolute(program) ? await versionOf(program, options) : undefined;
  if (version !== undefined) return { program, version };
  problems.push(`${name} names no Node.js that runs: "${program}"`);
  return undefined;
}

/** `<dir>/node/<version>/<arch>/bin/node`, whole where `<arch>.complete` stands beside. The folder says which version it is. */
function toolCacheNodes(dir: string | undefined): Candidate[] {
  if (dir === undefined || dir === "") return [];
  const root = join(dir, "node");
  return entriesOf(root).flatMap((name) => {
    const version = TOOL_VERSION.exec(name);
    if (version === null) return [];
    const folder = join(root, name, process.arch);
    const program = findProgram(join(folder, "bin/node"), { path: undefined, workDir: "/" });
    const isWhole = program !== undefined && existsSync(`${folder}.complete`);
    return isWhole ? [{ program, version: numbersOf(version) }] : [];
  });
}

async function* nodesOnPath(names: readonly string[], options: FindNodeOptions): AsyncGenerator<Candidate> {
  const seen = new Set<string>();
  const dirs = (options.path ?? "").split(":").filter(isAbsolute);
  for (const name of names) {
    let probes = 0;
    for (const dir of dirs) {
      const program = findProgram(join(dir, name), { path: undefined, workDir: "/" });
      const identity = program === undefined ? undefined : identityOf(program);
      if (program === undefined || identity === undefined || seen.has(identity)) continue;
      seen.add(identity);
      const version = await versionOf(program, options);
      if (version !== undefined) yield { program, version };
      probes += 1;
      if (probes === MAX_PROBES_BY_NAME) break;
    }
  }
}

async function versionOf(program: string, options: FindNodeOptions): Promise<Version | undefined> {
  const identity = identityOf(program);
  if (identity === undefined) return undefined;
  const { own } = options;
  if (own !== undefined && identity === identityOf(own.program)) return parseVersion(own.version);
  // The key holds the path too, because a launcher that stands for many programs answers by the name it was called by.
  const key = `${program}\0${identity}`;
  const before = known.get(key);
  if (before !== undefined) return await before;
  if (known.size >= MAX_KNOWN) known.clear();
  const asked = askVersion(program, options);
  known.set(key, asked);
  return await asked;
}

async function askVersion(program: string, { path, env = {} }: FindNodeOptions): Promise<Version | undefined> {
  const { HOME, LD_LIBRARY_PATH } = env;
  // Without NODE_OPTIONS: they may load files, or be refused by another version.
  const own = { PATH: path, HOME, LD_LIBRARY_PATH };
  const answer = await runBriefly({ program, args: ["--version"], env: own, timeoutMs: PROBE_TIMEOUT_MS });
  return answer.exitCode === 0 ? parseVersion(answer.stdout.trim()) : undefined;
}

function parseVersion(text: string): Version | undefined {
  const match = /^v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})(?:[-+][\w.+-]{1,100})?$/.exec(text);
  return match === null ? undefined : numbersOf(match);
}

function numbersOf([, major, minor, patch]: RegExpExecArray): Version {
  return [Number(major), Number(minor), Number(patch)];
}

function newest(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates.toSorted(({ version: a }, { version: b }) => b[0] - a[0] || b[1] - a[1] || b[2] - a[2])[0];
}

function identityOf(program: string): string | undefined {
  try {
    const { dev, ino, size, mtimeNs } = statSync(program, { bigint: true });
    return `${dev}:${ino}:${size}:${mtimeNs}`;
  } catch {
    // Not there any more, or closed to us.
    return undefined;
  }
}

function entriesOf(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
