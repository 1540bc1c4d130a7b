import { createHash } from "node:crypto";
import type { CommitProof } from "../store/commit-proof.ts";

/** The number of tags of tags that are followed. */
export const MAX_TAG_STEPS = 10;

/** The hash that ids of this length are made with. */
export function algorithmOf(id: string): "sha1" | "sha256" {
  return id.length === 64 ? "sha256" : "sha1";
}

/** Whether an object has this id. */
export function isObject(id: string, type: string, content: Uint8Array): boolean {
  const hash = createHash(algorithmOf(id)).update(`${type} ${content.byteLength}\0`).update(content);
  return hash.digest("hex") === id;
}

/** The tree that a commit names, or the object that a tag names; `undefined` for what names neither. */
export function targetOf(type: string, content: Buffer): string | undefined {
  const word = type === "commit" ? "tree" : type === "tag" ? "object" : undefined;
  const header = content.subarray(0, 256).toString("latin1");
  const [, found, id] = /^(tree|object) ([0-9a-f]{40}|[0-9a-f]{64})\n/.exec(header) ?? [];
  return found === word ? id : undefined;
}

/** Follows a proof from a full id. Gives the commit and its tree; `undefined` when a part is not what the one before names. */
export function followProof(id: string, proof: CommitProof): { commit: string; tree: string } | undefined {
  let current = id;
  for (const [type, encoded] of proof.objects.slice(0, MAX_TAG_STEPS)) {
    const content = Buffer.from(encoded, "base64");
    const next = isObject(current, type, content) ? targetOf(type, content) : undefined;
    if (next === undefined) return undefined;
    if (type === "commit") return { commit: current, tree: next };
    current = next;
  }
  return undefined;
}
