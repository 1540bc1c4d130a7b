import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { openRemote } from "@steps/transfer";
import type { CacheContext } from "../context.ts";
import { singleFlight, type Waiter } from "../single-flight.ts";
import { indexPath, readIndexFile } from "../store/index-entry.ts";
import { withTimeout } from "../timeout.ts";
import { backendOf, isUnreachable } from "./git-component.ts";

/**
 * The names of the tags of a repository, asked for once by one cache object. Offline the versions that the cache knows
 * stand for them.
 */
export async function listTags(context: CacheContext, url: string, waiter: Waiter): Promise<readonly string[]> {
  const remote = openRemote(url, context.mirrors);
  if (isUnreachable(context, remote)) return knownVersions(context, remote.location);
  const key = `git-tags\0${remote.location}`;
  const known = context.frozen.get(key);
  if (known !== undefined) return namesOf(known);
  const { value } = await singleFlight(context.ownFlights, key, {
    waiter,
    run: (shared) =>
      withTimeout(context.limits, shared, async (transfer) => {
        return (await backendOf(context)).listTags(remote, transfer);
      }),
  });
  const names = context.frozen.get(key) ?? value.join("\n");
  context.frozen.set(key, names);
  return namesOf(names);
}

// No name of git holds a line feed.
function namesOf(text: string): readonly string[] {
  return text.split("\n").filter((name) => name !== "");
}

function knownVersions({ layout }: CacheContext, location: string): readonly string[] {
  const folder = dirname(indexPath(layout, { kind: "git", location, version: "any" }));
  try {
    return readdirSync(folder).flatMap((name) => readIndexFile(join(folder, name))?.version ?? []);
  } catch {
    // Nothing of the repository was ever fetched.
    return [];
  }
}
