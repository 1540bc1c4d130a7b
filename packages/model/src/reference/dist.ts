import type { ReferenceKind } from "./kind.ts";
import { encodePlace, joinPath, lastPart, pathProblem, splitFile, unsafePath } from "./paths.ts";

/** A step shipped with the runner. */
export interface DistReference {
  readonly kind: "dist";
  readonly path: string;
  readonly file?: string;
}

export const dist: ReferenceKind<DistReference> = {
  protocol: 5,
  prefixes: ["builtin://", "dist://"],
  parse({ text }) {
    const { path, file } = splitFile(text.slice(text.indexOf("://") + 3), "path");
    if (path === "" && file === undefined) return { message: "The reference names no built-in step" };
    return unsafePath(path) ?? { kind: "dist", path, file };
  },
  format: ({ path, file }) => `builtin://${joinPath(path, file)}`,
  encode: ({ path, file }) => encodePlace(path, file),
  decode: (_json, { dir, file }) => ({ kind: "dist", path: dir, file }),
  problem: ({ path, file }) => pathProblem(path, file),
  title: ({ path }) => lastPart(path),
};
