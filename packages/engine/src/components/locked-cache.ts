import type { ComponentCache, ComponentRequest, ResolvedComponent, ResolveOptions } from "@steps/cache";
import { isStepsError, messageOf } from "@steps/model";
import { componentKindOf, componentLocation, isStoredKind } from "@steps/model/kinds";
import { EngineError } from "../engine-error.ts";
import { keyOf, type Lock } from "./lock.ts";
import { type Resolve, reshaping } from "./reshaping.ts";

/**
 * A cache that gives exactly what a lock names, whatever a branch, a tag or a URL means by now. What is not in the lock is
 * refused before anything of it is fetched; folders and archives on this machine are not locked. A replay has pins of its own.
 */
export function lockedCache(cache: ComponentCache, lock: Lock): ComponentCache {
  const entries = new Map(lock.components.map((component) => [keyOf(component), component]));
  const resolve: Resolve = async (request, options) => {
    const kind = componentKindOf(request);
    const name = kind.name(request);
    const isLocked = kind.lock !== undefined && kind.lock.covers?.(name.uri) !== false;
    if (!isLocked || !isStoredKind(request.kind) || options.pin !== undefined) return undefined;
    const version = kind.isVersioned ? name.version : "";
    const entry = entries.get(keyOf({ kind: request.kind, location: name.uri, version }));
    const shown = version === "" ? name.uri : `${name.uri}@${version}`;
    if (entry === undefined) {
      throw new EngineError("NOT_LOCKED", `Cannot use component "${shown}": "${lock.name}" does not name it`, {
        hint: "step-runner lock writes the lock again.",
      });
    }
    const problem = mismatch(shown, lock);
    const exact = kind.lock.exactly(request, entry.resolved);
    if ("message" in exact) throw problem(exact.message);
    const found = await resolveExactly(cache, exact, { options, problem });
    const { resource } = found;
    if (entry.gitTree !== undefined && resource.digest["gitTree"] !== entry.gitTree)
      throw problem(`its tree is ${resource.digest["gitTree"] ?? "unknown"}, not ${entry.gitTree}`);
    // The trace says what the author wrote, as if there were no lock.
    const isMutable = name.version !== kind.name(exact).version;
    return { ...found, resource: { ...resource, requestedVersion: version, isMutable } };
  };
  return reshaping(cache, resolve, (url) => Promise.resolve(lockedVersions(lock, url)));
}

// A version that is not in the lock could not be used.
function lockedVersions({ components }: Lock, url: string): readonly string[] {
  const location = componentLocation(url);
  const ofRepository = components.filter((component) => component.kind === "git" && component.location === location);
  return ofRepository.map(({ version }) => version);
}

type Problem = (problem: string, cause?: unknown) => EngineError;

function mismatch(shown: string, lock: Lock): Problem {
  return (problem, cause) =>
    new EngineError("LOCK_MISMATCH", `Component "${shown}" is not what "${lock.name}" names: ${problem}`, { cause });
}

async function resolveExactly(
  cache: ComponentCache,
  request: ComponentRequest,
  { options, problem }: { readonly options: ResolveOptions; readonly problem: Problem },
): Promise<ResolvedComponent> {
  try {
    return await cache.resolve(request, options);
  } catch (error) {
    if (isStepsError(error, "DIGEST_MISMATCH")) throw problem(messageOf(error), error);
    throw error;
  }
}
