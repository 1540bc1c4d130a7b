import { createHash } from "node:crypto";

/** An entry of a directory as git sees it. */
export interface TreeEntry {
  readonly name: string;
  /** `100664` was written by git of long ago; `160000` is a submodule. */
  readonly mode: "100644" | "100664" | "100755" | "120000" | "160000" | "40000";
  /** Hex digest of the blob or tree; of a submodule its commit. */
  readonly digest: string;
}

/** Git's object id of file content, in SHA-256 by default. */
export function gitBlobDigest(content: Uint8Array, algorithm: "sha256" | "sha1" = "sha256"): string {
  return createHash(algorithm).update(`blob ${content.byteLength}\0`).update(content).digest("hex");
}

/**
 * Git's object id of a directory: names, modes and content, sorted as git sorts (a directory as if its name ended in `/`).
 * Equal to what `git write-tree` gives in a repository of that object format.
 */
export function gitTreeDigest(entries: readonly TreeEntry[], algorithm: "sha256" | "sha1" = "sha256"): string {
  const keyed = entries.map((entry) => ({
    entry,
    key: Buffer.from(entry.mode === "40000" ? `${entry.name}/` : entry.name),
  }));
  keyed.sort((a, b) => Buffer.compare(a.key, b.key));
  const parts = keyed.flatMap(({ entry }) => [
    Buffer.from(`${entry.mode} ${entry.name}\0`),
    Buffer.from(entry.digest, "hex"),
  ]);
  const body = Buffer.concat(parts);
  return createHash(algorithm).update(`tree ${body.byteLength}\0`).update(body).digest("hex");
}
