import { TransferError } from "../error.ts";
import type { Limits } from "../limits.ts";
import type { UnusualEntry } from "./unusual-entry.ts";
import { decodeUtf8, foldName, nameProblem } from "./entry-name.ts";

/** One entry that an archive or a repository says it has. */
export interface EntryClaim {
  /** Slash-separated, relative. Bytes must be UTF-8. */
  readonly path: string | Uint8Array;
  readonly type: "file" | "link" | "dir";
  readonly isExecutable?: boolean;
  /** The mode and id that the repository has for it; absent where the file shows them. */
  readonly unusual?: UnusualEntry;
}

/** A place in the planned tree. Children are found by their folded names. */
export interface TreeNode {
  readonly name: string;
  readonly path: string;
  readonly parent: TreeNode | undefined;
  readonly type: "file" | "link" | "dir";
  readonly isExecutable: boolean;
  readonly unusual: UnusualEntry | undefined;
  readonly children: Map<string, TreeNode>;
  /** Whether a folder was named itself, and not only through what is in it. */
  isNamed: boolean;
  /** The target of a link, once its content was read. */
  target: string | undefined;
  /** Hex digests of the content, once it was written. */
  digest: string | undefined;
  nativeDigest: string | undefined;
}

/** The names and links that a tree may hold. */
export interface TreeRules {
  /** The word for the tree in messages, such as `component`. */
  readonly what: string;
  /** Why one part of a path is refused; `depth` is 0 for the first part. */
  readonly nameProblem: (part: string, limits: Limits, depth: number) => string | undefined;
  /** Two names with the same result cannot be in one folder. */
  readonly foldName: (part: string) => string;
  /** Whether a link may lead to a place outside of the tree. */
  readonly isAllowedTarget: (target: string) => boolean;
}

/** The rules of components, which have to mean the same on all systems. */
const PORTABLE: TreeRules = { what: "component", nameProblem, foldName, isAllowedTarget: () => false };

/** All entries of a component, before anything is written. */
export interface TreePlan {
  readonly root: TreeNode;
  /** Adds an entry. @throws {TransferError} UNSAFE_ENTRY, ARCHIVE_TOO_LARGE */
  add(claim: EntryClaim): TreeNode;
  /** Checks where all links lead, which must be known by now. @throws {TransferError} UNSAFE_ENTRY */
  checkLinks(): void;
  /** The same for one link. */
  checkLink(link: TreeNode): void;
}

const MAX_LINK_STEPS = 40;

/**
 * Plans a tree in memory. Because a path below a file or a link is refused here, no check of the file system is needed
 * when it is written, and there is nothing to race with.
 */
export function createTreePlan(limits: Limits, rules: TreeRules = PORTABLE): TreePlan {
  const { what } = rules;
  const root = createNode("", { parent: undefined, type: "dir" });
  const links: TreeNode[] = [];
  let entries = 0;

  const insert = (node: TreeNode): TreeNode => {
    node.parent?.children.set(rules.foldName(node.name), node);
    return node;
  };
  const grow = (path: string): void => {
    entries += 1;
    if (entries <= limits.maxEntries) return;
    throw new TransferError(
      "ARCHIVE_TOO_LARGE",
      `Cannot unpack ${what}: it has more than ${limits.maxEntries} entries`,
      { hint: `The first one too many is ${quote(path)}.` },
    );
  };

  return {
    root,
    add(claim) {
      const path = readPath(claim.path, limits, rules);
      const parts = path.split("/");
      const name = parts.pop() as string;
      let folder = root;
      for (const part of parts) {
        const next = folder.children.get(rules.foldName(part));
        if (next !== undefined && next.name !== part) throw collision(path, next, rules);
        if (next !== undefined && next.type !== "dir")
          throw unsafe(path, `is below the ${next.type} ${quote(next.path)}`, what);
        if (next === undefined) grow(path);
        folder = next ?? insert(createNode(part, { parent: folder, type: "dir" }));
      }
      const existing = folder.children.get(rules.foldName(name));
      if (existing !== undefined) {
        const isFirstNaming = existing.type === "dir" && claim.type === "dir" && !existing.isNamed;
        if (existing.name !== name || !isFirstNaming) throw collision(path, existing, rules);
        existing.isNamed = true;
        return existing;
      }
      grow(path);
      const { type, isExecutable, unusual } = claim;
      const node = insert(createNode(name, { parent: folder, type, isExecutable, unusual }));
      node.isNamed = true;
      if (type === "link") links.push(node);
      return node;
    },
    checkLinks() {
      for (const link of links) checkLink(root, link, rules);
    },
    checkLink: (link) => checkLink(root, link, rules),
  };
}

function createNode(
  name: string,
  options: {
    parent: TreeNode | undefined;
    type: TreeNode["type"];
    isExecutable?: boolean | undefined;
    unusual?: UnusualEntry | undefined;
  },
): TreeNode {
  const { parent, type, isExecutable = false, unusual } = options;
  const path = parent === undefined || parent.path === "" ? name : `${parent.path}/${name}`;
  const unknown = { isNamed: false, target: undefined, digest: undefined, nativeDigest: undefined };
  return { name, path, parent, type, isExecutable, unusual, children: new Map(), ...unknown };
}

function readPath(raw: string | Uint8Array, limits: Limits, rules: TreeRules): string {
  const { what } = rules;
  const path = typeof raw === "string" ? raw : decodeUtf8(raw);
  if (path === undefined) throw unsafe(Buffer.from(raw).toString("latin1"), "is not UTF-8", what);
  if (!path.isWellFormed()) throw unsafe(path, "is not well-formed Unicode", what);
  if (Buffer.byteLength(path) > limits.maxPathBytes) throw unsafe(path, "is too long", what);
  if (path.startsWith("/")) throw unsafe(path, "is absolute", what);
  const parts = path.split("/");
  if (parts.length > limits.maxDepth) throw unsafe(path, `is more than ${limits.maxDepth} folders deep`, what);
  for (const [depth, part] of parts.entries()) {
    const problem = rules.nameProblem(part, limits, depth);
    if (problem !== undefined) throw unsafe(path, problem, what);
  }
  return path;
}

/**
 * Follows a link through the plan as the kernel would, other links included: `a -> .` and `b -> a/../x` leads out of
 * the tree although each looks harmless. What is not there is allowed, what would leave the tree is not.
 */
function checkLink(root: TreeNode, link: TreeNode, rules: TreeRules): void {
  const { what, foldName } = rules;
  const target = link.target ?? "";
  if (rules.isAllowedTarget(target)) return;
  if (target === "" || target.startsWith("/") || /[\u0000-\u001f\u007f\\]/.test(target) || /^[a-z]:/i.test(target)) {
    throw unsafe(link.path, `is a link that does not lead to a place in the ${what}: ${quote(target)}`, what);
  }
  const leaves = (): TransferError =>
    unsafe(link.path, `is a link that leads out of the ${what}: ${quote(target)}`, what);
  // A place that does not exist has no node; only how deep it is matters.
  let node: TreeNode | undefined = link.parent ?? root;
  let missingDepth = 0;
  let steps = 0;
  const pending = target.split("/").toReversed();
  while (pending.length > 0) {
    const part = pending.pop() as string;
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (missingDepth > 0) missingDepth -= 1;
      else if (node?.parent === undefined) throw leaves();
      else node = node.parent;
      continue;
    }
    const next: TreeNode | undefined = missingDepth > 0 ? undefined : node?.children.get(foldName(part));
    if (next === undefined) missingDepth += 1;
    else if (next.type === "link") {
      steps += 1;
      if (steps > MAX_LINK_STEPS || pending.length > 4096)
        throw unsafe(link.path, "is a link that leads in a circle", what);
      if ((next.target ?? "").startsWith("/")) throw leaves();
      pending.push(...(next.target ?? "").split("/").toReversed());
    } else node = next;
  }
}

function collision(path: string, existing: TreeNode, { what }: TreeRules): TransferError {
  return existing.path === path
    ? unsafe(path, "is there twice", what)
    : unsafe(path, `is the same as ${quote(existing.path)} where case does not matter`, what);
}

/** The error of an entry that must not be unpacked. */
export function unsafe(path: string, problem: string, what = "component"): TransferError {
  return new TransferError("UNSAFE_ENTRY", `Cannot unpack ${what}: the entry ${quote(path)} ${problem}`);
}

/** A name from outside, fit for a message. */
export function quote(text: string): string {
  const shown = text.length > 120 ? `${text.slice(0, 120)}…` : text;
  return JSON.stringify(shown).replaceAll(/[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, "\u{fffd}");
}
