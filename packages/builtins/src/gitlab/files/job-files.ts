import { DEFAULT_LIMITS, type Limits } from "@steps/transfer";
import { foldName, isGitFolder, type TreeRules } from "@steps/transfer/archive";

/** The limits of archives of a job's own files: what a disk can hold, but no bombs. Their units are those of `Limits`. */
export const JOB_LIMITS: Limits = {
  ...DEFAULT_LIMITS,
  maxEntries: 2_000_000,
  maxFileBytes: Number.MAX_SAFE_INTEGER,
  maxTotalBytes: Number.MAX_SAFE_INTEGER,
  ratioFloorBytes: 4 * 1024 ** 3,
  maxDepth: 256,
};

/**
 * The rules for archives of a job's own files, which are unpacked on the machine where they were packed: every name that the
 * system has, but the repository of the project itself, and no link out of the project but to programs of the system.
 */
export const JOB_RULES: TreeRules = {
  what: "archive",
  nameProblem(part, { maxNameBytes }, depth) {
    if (part === "") return "has an empty part";
    if (part === "." || part === "..") return `has the part "${part}"`;
    if (part.includes("\0")) return "holds a null character";
    if (depth === 0 && isGitFolder(part)) return "is in the repository of the project";
    return Buffer.byteLength(part) > maxNameBytes ? "has a part that is too long" : undefined;
  },
  foldName: process.platform === "linux" ? (part) => part : foldName,
  isAllowedTarget: (target) => isProgramOfSystem(target),
};

// A virtual environment of Python has a link to its interpreter, for example. Only the system's own folders: what a user
// may write to could be written through a link.
function isProgramOfSystem(target: string): boolean {
  if (target.split("/").some((part) => part === ".." || part === "." || /[\u0000-\u001f]/.test(part))) return false;
  return /^\/(?:usr|bin|lib|lib64|opt|nix\/store|System|Library)\/./.test(target);
}
