import { BuildError } from "./build-error.ts";

interface Version {
  readonly numbers: readonly [number, number, number];
  readonly isPrerelease: boolean;
}

const VERSION = /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(-[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$/;

/** Refuses what is no semantic version that a tag can have: build metadata has a `+`. @throws {BuildError} IMAGE_INVALID */
export function checkVersion(version: string): string {
  if (parse(version) !== undefined && version.length <= 128) return version;
  throw new BuildError("IMAGE_INVALID", `Cannot use version "${version.slice(0, 80)}": it is no semantic version`, {
    hint: "Write MAJOR.MINOR.PATCH, as in 1.2.3 or 1.2.3-rc.1, without v and without build metadata.",
  });
}

/**
 * The tags that a new version moves: `X.Y.Z`; `X.Y` when it is the newest patch; `X` when it is the newest minor; `latest`
 * when it is the newest of all. A pre-release has its own tag alone (conformance section 15).
 */
export function tagsOf(version: string, existing: Iterable<string>): string[] {
  const own = parse(checkVersion(version)) as Version;
  if (own.isPrerelease) return [version];
  const [major, minor] = own.numbers;
  const others = [...existing].map(parse).filter((found) => found !== undefined && !found.isPrerelease) as Version[];
  const isNewest = (depth: number): boolean =>
    others
      .filter(({ numbers }) => numbers.slice(0, depth).every((part, index) => part === own.numbers[index]))
      .every(({ numbers }) => compare(numbers, own.numbers) <= 0);
  return [
    version,
    ...(isNewest(2) ? [`${major}.${minor}`] : []),
    ...(isNewest(1) ? [`${major}`] : []),
    ...(isNewest(0) ? ["latest"] : []),
  ];
}

function parse(text: string): Version | undefined {
  const match = VERSION.exec(text);
  if (match === null) return undefined;
  const [, major, minor, patch, prerelease] = match;
  return { numbers: [Number(major), Number(minor), Number(patch)], isPrerelease: prerelease !== undefined };
}

function compare(a: Version["numbers"], b: Version["numbers"]): number {
  const index = a.findIndex((part, place) => part !== b[place]);
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}
