import type { ComponentCache, ComponentRequest, ResolvedComponent, ResolveOptions } from "@steps/cache";
import { isStepsError, messageOf } from "@steps/model";
import { EngineError } from "../engine-error.ts";
import { type ComponentName, componentName } from "./component-name.ts";
import { keyOf, type Lock, type LockedComponent } from "./lock.ts";
import { reshaping } from "./reshaping.ts";

/**
 * A cache that gives exactly what a lock names, whatever a branch, a tag or a URL means by now. What is not in the lock is
 * refused before anything of it is fetched; folders and archives on this machine are not locked. A replay has pins of its own.
 */
export function lockedCache(cache: ComponentCache, lock: Lock): ComponentCache {
  const entries = new Map(lock.components.map((component) => [keyOf(component), component]));
  return reshaping(cache, async (request, options) => {
    const name = componentName(request);
    if (!isLockable(name) || options.pin !== undefined) return undefined;
    const version = name.kind === "zip" ? "" : name.version;
    const entry = entries.get(keyOf({ kind: name.kind as LockedComponent["kind"], location: name.uri, version }));
    const shown = version === "" ? name.uri : `${name.uri}@${version}`;
    if (entry === undefined) {
      throw new EngineError("NOT_LOCKED", `Cannot use component "${shown}": "${lock.name}" does not name it`, {
        hint: "step-runner lock writes the lock again.",
      });
    }
    const found = await resolveExactly(cache, { request, entry, options, problem: mismatch(shown, lock) });
    const { resource } = found;
    if (entry.gitTree !== undefined && resource.digest["gitTree"] !== entry.gitTree)
      throw mismatch(shown, lock)(`its tree is ${resource.digest["gitTree"] ?? "unknown"}, not ${entry.gitTree}`);
    // The trace says what the author wrote, as if there were no lock.
    const isMutable = request.kind === "zip" ? request.sha256 === undefined : version !== entry.resolved;
    return { ...found, resource: { ...resource, requestedVersion: version, isMutable } };
  });
}

type Problem = (problem: string, cause?: unknown) => EngineError;

function mismatch(shown: string, lock: Lock): Problem {
  return (problem, cause) =>
    new EngineError("LOCK_MISMATCH", `Component "${shown}" is not what "${lock.name}" names: ${problem}`, { cause });
}

async function resolveExactly(
  cache: ComponentCache,
  how: {
    readonly request: ComponentRequest;
    readonly entry: LockedComponent;
    readonly options: ResolveOptions;
    readonly problem: Problem;
  },
): Promise<ResolvedComponent> {
  const { request, entry, options, problem } = how;
  try {
    return await cache.resolve(exactly(request, entry, problem), options);
  } catch (error) {
    if (isStepsError(error, "DIGEST_MISMATCH")) throw problem(messageOf(error), error);
    throw error;
  }
}

function exactly(request: ComponentRequest, { resolved }: LockedComponent, problem: Problem): ComponentRequest {
  switch (request.kind) {
    case "local":
      return request;
    case "git":
      return { ...request, version: resolved };
    case "oci":
      return { ...request, tag: resolved };
    case "zip": {
      const sha256 = resolved.slice("sha256:".length);
      if (request.sha256 !== undefined && request.sha256 !== sha256)
        throw problem(`its digest is to be ${request.sha256}, not ${sha256}`);
      return { ...request, sha256 };
    }
  }
}

// A folder and an archive on this machine are what they are.
function isLockable({ kind, uri }: ComponentName): boolean {
  return kind === "zip" ? /^https?:/i.test(uri) : kind !== "local";
}
