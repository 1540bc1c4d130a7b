import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { LineCounter, parseDocument } from "yaml";
import { KubernetesError } from "../kubernetes-error.ts";
import { readBounded } from "./read-bounded.ts";

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_ALIASES = 100;

/** Part of a kubeconfig, with what its relative paths are relative to. All scalars are text, as they were written. */
export interface KubeconfigEntry {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly dir: string;
}

/** The entries of a kubeconfig that a context selects. */
export interface KubeconfigSelection {
  readonly cluster: KubeconfigEntry;
  /** Absent: no credentials. */
  readonly user: KubeconfigEntry | undefined;
  readonly namespace: string | undefined;
}

export interface KubeconfigOptions {
  /** The only file that is read, and it must be there. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface Merged {
  currentContext: string | undefined;
  readonly clusters: Map<string, KubeconfigEntry>;
  readonly users: Map<string, KubeconfigEntry>;
  readonly contexts: Map<string, KubeconfigEntry>;
}

/**
 * Reads the kubeconfig as kubectl does: the given file, or those in `KUBECONFIG` (absent ones are left out; of a name or value
 * that several files have, the first counts, as a whole; of a file, its first document), or `~/.kube/config`. Undefined when there is no configuration at all.
 * Rejects with ADDRESS_INVALID; messages name files, contexts and lines, never a value.
 */
export async function loadKubeconfig(
  options: KubeconfigOptions,
  signal?: AbortSignal,
): Promise<KubeconfigSelection | undefined> {
  const merged: Merged = { currentContext: undefined, clusters: new Map(), users: new Map(), contexts: new Map() };
  for (const path of pathsOf(options)) {
    const text = await readConfig(path, { isNeeded: options.kubeconfig !== undefined, signal });
    if (text !== undefined) merge(merged, parseKubeconfig(text, path), dirname(resolve(path)));
  }
  const name = options.context ?? merged.currentContext;
  if (name === undefined) {
    if (merged.contexts.size === 0 && options.kubeconfig === undefined) return undefined;
    throw new KubernetesError("ADDRESS_INVALID", "The kubeconfig has no current context", {
      hint: 'Name one of its contexts, or set "current-context"',
    });
  }
  return select(merged, name);
}

function pathsOf({ kubeconfig, env }: KubeconfigOptions): readonly string[] {
  if (kubeconfig !== undefined) return [kubeconfig];
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  return listed.length > 0 ? [...new Set(listed)] : [join(env["HOME"] ?? homedir(), ".kube", "config")];
}

async function readConfig(
  path: string,
  { isNeeded, signal }: { isNeeded: boolean; signal: AbortSignal | undefined },
): Promise<string | undefined> {
  try {
    return (await readBounded(path, { maxBytes: MAX_FILE_BYTES, signal })).toString();
  } catch (cause) {
    signal?.throwIfAborted();
    if (!isNeeded && (cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new KubernetesError("ADDRESS_INVALID", `Reading the kubeconfig ${JSON.stringify(path)} failed`, { cause });
  }
}

function parseKubeconfig(text: string, path: string): Readonly<Record<string, unknown>> {
  const lineCounter = new LineCounter();
  // The failsafe schema leaves every scalar the text it is: a token of digits stays one. Pretty errors would quote secrets.
  const options = {
    schema: "failsafe",
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: "silent",
    lineCounter,
  } as const;
  const quoted = JSON.stringify(path);
  let value: unknown;
  try {
    const document = parseDocument(text, options);
    const [error] = document.errors;
    if (error !== undefined) {
      const { line } = lineCounter.linePos(error.pos[0]);
      throw new KubernetesError(
        "ADDRESS_INVALID",
        `The kubeconfig ${quoted} is not valid YAML: line ${line}, ${error.code}`,
      );
    }
    value = document.contents === null ? {} : document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (cause) {
    if (cause instanceof KubernetesError) throw cause;
    throw new KubernetesError(
      "ADDRESS_INVALID",
      `The kubeconfig ${quoted} is nested too deeply or repeats itself too often`,
    );
  }
  if (value === "" || value === "null") return {};
  if (!isRecord(value)) throw new KubernetesError("ADDRESS_INVALID", `The kubeconfig ${quoted} is not a mapping`);
  return value;
}

function merge(merged: Merged, config: Readonly<Record<string, unknown>>, dir: string): void {
  merged.currentContext ??= textField(config, "current-context");
  addNamed(merged.clusters, config["clusters"], { key: "cluster", dir });
  addNamed(merged.users, config["users"], { key: "user", dir });
  addNamed(merged.contexts, config["contexts"], { key: "context", dir });
}

function addNamed(
  target: Map<string, KubeconfigEntry>,
  list: unknown,
  { key, dir }: { key: string; dir: string },
): void {
  for (const item of Array.isArray(list) ? (list as unknown[]) : []) {
    if (!isRecord(item)) continue;
    const name = textField(item, "name");
    const fields = item[key];
    if (name !== undefined && !target.has(name)) target.set(name, { fields: isRecord(fields) ? fields : {}, dir });
  }
}

function select(merged: Merged, name: string): KubeconfigSelection {
  const context = merged.contexts.get(name);
  if (context === undefined) {
    const names = [...merged.contexts.keys()].slice(0, 20).map((item) => JSON.stringify(item));
    throw new KubernetesError("ADDRESS_INVALID", `The kubeconfig has no context ${JSON.stringify(name)}`, {
      hint: names.length === 0 ? undefined : `It has ${names.join(", ")}`,
    });
  }
  const clusterName = textField(context.fields, "cluster") ?? "";
  const cluster = merged.clusters.get(clusterName);
  if (cluster === undefined) {
    const what = `${JSON.stringify(clusterName)} of the context ${JSON.stringify(name)}`;
    throw new KubernetesError("ADDRESS_INVALID", `The kubeconfig has no cluster ${what}`);
  }
  const userName = textField(context.fields, "user");
  // A user that is not there is none, as with kubectl.
  const user = userName === undefined ? undefined : merged.users.get(userName);
  return { cluster, user, namespace: textField(context.fields, "namespace") };
}

/** A text that is there and not empty (`null`, as generators write it, is not there). */
export function textField(fields: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
  return typeof value === "string" && value !== "" && value !== "null" && value !== "~" ? value : undefined;
}

/** Whether a field says true. */
export function flagField(fields: Readonly<Record<string, unknown>>, key: string): boolean {
  return /^(?:true|True|TRUE)$/u.test(textField(fields, key) ?? "");
}

/** A field that names a file, relative to the kubeconfig it stands in. */
export function pathField(entry: KubeconfigEntry, key: string): string | undefined {
  const path = textField(entry.fields, key);
  return path === undefined || isAbsolute(path) ? path : join(entry.dir, path);
}

/** Tells whether a value is an object with named fields. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
