/**
 * An entry of a git tree that lies on the disk like another: a submodule is an empty folder, and a file of mode 100664,
 * which git wrote long ago, is a plain file.
 */
export type UnusualEntry =
  | { readonly mode: "160000"; /** The submodule's commit. */ readonly id: string }
  | { readonly mode: "100664" };

/** The unusual entries of a tree by their paths. */
export type UnusualEntries = ReadonlyMap<string, UnusualEntry>;
