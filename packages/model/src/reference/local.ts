import type { ComponentKind, FetchedKind } from "./kind.ts";
import { encodePlace, joinPath, lastPart, pathProblem, splitFile } from "./paths.ts";

/** A folder or file, relative to the folder of the calling step file, or absolute. Always with `/`. */
export interface LocalReference {
  readonly kind: "local";
  /** The folder: `.`, `./a/b`, `../c`, `/opt/steps`. */
  readonly path: string;
  /** Absent: the first of `func.yml`, `func.yaml`, `step.yml`, `step.yaml`. */
  readonly file?: string;
}

/** A folder of this machine, which is used where it is. */
export interface LocalRequest {
  readonly kind: "local";
  /** Absolute. */
  readonly dir: string;
}

const component: ComponentKind<LocalRequest> = {
  name: ({ dir }) => ({ uri: dir, written: dir, version: "" }),
  isVersioned: false,
  mark: (version) => `@${version}`,
  requestOf: ({ uri }) => ({ kind: "local", dir: uri }),
  ofPath: (path) => ({ kind: "local", dir: path }),
  moved: (request, move) => ({ ...request, dir: move(request.dir) }),
};

export const local: FetchedKind<LocalReference, LocalRequest> = {
  protocol: 1,
  claims: ({ text, scheme }) => scheme === undefined && /^[./]/.test(text),
  parse: ({ text }) => ({ kind: "local", ...splitFile(text, "path") }),
  format: ({ path, file }) => joinPath(path, file),
  encode: ({ path, file }) => encodePlace(path, file),
  decode: (_json, { dir, file }) => ({ kind: "local", path: dir === "" ? "." : dir, file }),
  problem: ({ path, file }) => pathProblem(path.replaceAll("..", ""), file),
  title: ({ path }, location = path) => lastPart(location),
  component,
  request: ({ path }, place) => ({ kind: "local", dir: place.path(path) }),
  location: ({ path }) => path,
};
