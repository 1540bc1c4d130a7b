import type { UnusualEntry } from "@steps/transfer/archive";

/** Proves that a full id leads to a tree: the objects from the one with that id to the commit that names the tree. */
export interface CommitProof {
  /** Tags, and last the commit, as type and content in base64. */
  readonly objects: readonly (readonly [type: string, content: string])[];
  /** The unusual entries, which are needed to compute the tree's id from the files. */
  readonly unusual?: readonly (readonly [path: string, entry: UnusualEntry])[];
}
