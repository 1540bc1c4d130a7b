import type { GitReference } from "./git.ts";
import type { OtherReading } from "./kind.ts";

/** One more level than any of these has a meaning of its own. */
const MAX_READINGS = 8;
/** Owner and project: no host has repositories above that. */
const MIN_SEGMENTS = 2;

/**
 * Returns the other meanings of a short git reference without a path mark, in the form of the blueprint:
 * `host/group/project/dir@REV` is `steps/dir.yml` or `steps/dir/` in `host/group/project` (conformance section 20 C7).
 * The nearest reading comes first.
 */
export function legacyReadings(reference: GitReference): readonly OtherReading<GitReference>[] {
  const { url, dir, file } = reference;
  if (dir !== "steps" || file !== undefined) return [];
  const parts = /^([a-z+]+:\/\/[^/]*\/+)(.+?)\/*$/i.exec(url);
  if (parts === null) return [];
  const [, start = "", rest = ""] = parts;
  const segments = rest.split("/");
  if (segments.some((part) => part === "" || part === "..")) return [];
  const readings: OtherReading<GitReference>[] = [];
  for (let count = segments.length - 1; count >= MIN_SEGMENTS && readings.length < MAX_READINGS; count--) {
    const inner = segments.slice(count);
    const repository = `${start}${segments.slice(0, count).join("/")}`;
    const path = inner.join("/");
    readings.push({ steps: stepsAt({ ...reference, url: repository }, inner), repository, path });
  }
  return readings;
}

function stepsAt(reference: GitReference, inner: readonly string[]): readonly GitReference[] {
  const last = inner.at(-1) ?? "";
  const folder = ["steps", ...inner.slice(0, -1)].join("/");
  if (/\.ya?ml$/i.test(last)) return [{ ...reference, dir: folder, file: last }];
  return [
    { ...reference, dir: folder, file: `${last}.yml` },
    { ...reference, dir: `${folder}/${last}` },
  ];
}
