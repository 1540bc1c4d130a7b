import type { LoadFailure } from "@steps/model/include";

/** The address of a component of the catalog, in its parts. */
export interface ComponentAddress {
  /** The host with the port, in lower case: `gitlab.com`. */
  readonly host: string;
  /** The path of the project: `group/name`. */
  readonly project: string;
  readonly name: string;
  /** The text behind the `@`: a commit, tag, branch, a part of a version, or `~latest`. */
  readonly reference: string;
}

const HINT = "Write host/group/project/name@version.";

/** Reads `host/group/project/name@version` ([components](https://docs.gitlab.com/ci/components/#use-a-component)). */
export function parseComponentAddress(text: string): ComponentAddress | LoadFailure {
  const [location = "", reference, ...rest] = text.split("@");
  const [host = "", ...parts] = location.split("/");
  const name = parts.pop() ?? "";
  if (reference === undefined || reference === "" || rest.length > 0) {
    return {
      problem: "It names no version",
      hint: "Write @ and a commit, tag, branch, a part of a version such as 1.2, or ~latest.",
    };
  }
  const isPath = parts.length > 1 && [...parts, name].every((part) => /^[\w][\w.-]*$/.test(part));
  if (!isPath || !/^[A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?$/.test(host))
    return { problem: "It is no address", hint: HINT };
  return { host: host.toLowerCase(), project: parts.join("/"), name, reference };
}

/** The places in a project where a component may be, the first first. */
export function pathsOfComponent(name: string): readonly string[] {
  return [`templates/${name}.yml`, `templates/${name}/template.yml`];
}

interface Version {
  readonly tag: string;
  readonly numbers: readonly [major: number, minor: number, patch: number];
}

/** Whether a reference stands for the newest of several versions: `1`, `1.2`, `~latest`. */
export function isRange(reference: string): boolean {
  return reference === "~latest" || /^\d{1,9}(?:\.\d{1,9})?$/.test(reference);
}

/** The newest of the tags that a range stands for, without those of pre-releases; `undefined` if there is none. */
export function newestTag(range: string, tags: readonly string[]): string | undefined {
  const wanted = range === "~latest" ? [] : range.split(".").map(Number);
  const fitting = tags.flatMap((tag) => {
    const version = parseVersion(tag);
    return version !== undefined && wanted.every((number, index) => version.numbers[index] === number) ? [version] : [];
  });
  return fitting.toSorted(compare).at(-1)?.tag;
}

/** Whether a tag has the form of a version: `1.2.3`, `v1.2.3-rc.1`. */
export function isVersion(tag: string): boolean {
  return /^v?\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+][0-9A-Za-z.+-]+)?$/.test(tag);
}

function parseVersion(tag: string): Version | undefined {
  const found = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:\+[0-9A-Za-z.-]+)?$/.exec(tag);
  return found === null ? undefined : { tag, numbers: [Number(found[1]), Number(found[2]), Number(found[3])] };
}

function compare(a: Version, b: Version): number {
  const [major, minor, patch] = a.numbers;
  const [otherMajor, otherMinor, otherPatch] = b.numbers;
  return major - otherMajor || minor - otherMinor || patch - otherPatch;
}
