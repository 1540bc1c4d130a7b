import type { Resource } from "@steps/model/event";
import { publicUrl } from "@steps/model/reference";
import { isStoredKind, recordedKindOf, type StoredKindName } from "@steps/model/kinds";
import { EngineError } from "../engine-error.ts";

/** A component of a lock: what its name and version meant when the lock was written. */
export interface LockedComponent {
  readonly kind: StoredKindName;
  /** Without credentials: a URL, of an image `oci://REGISTRY/REPOSITORY`. */
  readonly location: string;
  /** As it is written in references; of a zip the digest that is asked for, or empty. */
  readonly version: string;
  /** A full commit; `sha256:…` of an archive, or of an image for all its platforms. */
  readonly resolved: string;
  /** SHA-256 of the tree; absent for images, whose platforms have different ones. */
  readonly gitTree?: string;
}

/** The content of a lock file: the components that it pins. */
export interface Lock {
  /** The file, for messages. */
  readonly name: string;
  readonly components: readonly LockedComponent[];
}

const VERSION = 1;
const MAX_COMPONENTS = 100_000;

/** The entry of a component that was resolved; `undefined` for what is on this machine only. */
export function lockedOf(resource: Resource): LockedComponent | undefined {
  const { kind, uri, requestedVersion, digest } = resource;
  const lock = recordedKindOf(resource)?.lock;
  if (lock === undefined || !isStoredKind(kind) || lock.covers?.(uri) === false) return undefined;
  const locked = { kind, location: publicUrl(uri), version: requestedVersion, resolved: lock.resolved(resource) };
  return lock.hasOneTree ? { ...locked, gitTree: digest["gitTree"] } : locked;
}

/** The text of a lock: sorted, a line for each member, so that a diff shows what moved. */
export function formatLock(components: readonly LockedComponent[]): string {
  const byKey = new Map(components.map((component) => [keyOf(component), component]));
  const sorted = [...byKey.keys()].toSorted().map((key) => byKey.get(key));
  return `${JSON.stringify({ lockVersion: VERSION, components: sorted }, null, 2)}\n`;
}

/** Reads a lock. @throws {EngineError} LOCK_INVALID */
export function parseLock(name: string, text: string): Lock {
  const fail = (problem: string) => new EngineError("LOCK_INVALID", `Cannot read lock "${name}": ${problem}`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new EngineError("LOCK_INVALID", `Cannot read lock "${name}": it is no JSON`, { cause });
  }
  const { lockVersion, components } = isRecord(json) ? json : {};
  if (typeof lockVersion === "number" && lockVersion > VERSION) throw fail("a newer runner wrote it");
  if (lockVersion !== VERSION || !Array.isArray(components)) throw fail("it has no lockVersion and components");
  if (components.length > MAX_COMPONENTS) throw fail(`it has more than ${MAX_COMPONENTS} components`);
  return {
    name,
    components: components.map((item: unknown, i) => {
      const component = readComponent(item);
      if (component === undefined) throw fail(`component ${i + 1} is malformed`);
      return component;
    }),
  };
}

function readComponent(item: unknown): LockedComponent | undefined {
  if (!isRecord(item)) return undefined;
  const { kind, location, version, resolved, gitTree } = item;
  if (!isStoredKind(kind) || typeof location !== "string" || typeof version !== "string") return undefined;
  const pattern = recordedKindOf({ kind })?.lock?.pattern;
  if (typeof resolved !== "string" || pattern?.test(resolved) !== true) return undefined;
  if (gitTree !== undefined && (typeof gitTree !== "string" || !/^[0-9a-f]{64}$/.test(gitTree))) return undefined;
  return { kind, location, version, resolved, gitTree };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a key by which the components of a lock differ. */
export function keyOf({ kind, location, version }: Pick<LockedComponent, "kind" | "location" | "version">): string {
  return JSON.stringify([kind, location, version]);
}
