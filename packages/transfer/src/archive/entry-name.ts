import type { Limits } from "../limits.ts";

// Ignored by HFS+ when it compares names, so that `.g<U+200C>it` is `.git` there.
const IGNORABLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad]/g;
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:[.: ].*)?$/i;
// `.git` and the short names that NTFS makes up for it, also with a stream (`.git::$INDEX_ALLOCATION`).
const GIT_ALIAS = /^(?:\.git|git~\d+)(?:[. ]*|:.*)$/i;

/**
 * Returns the reason for which one part of a path is dangerous, or means different things on different systems, or
 * `undefined`. The rules are the same everywhere, so that a component is refused on all systems or on none.
 */
export function nameProblem(name: string, limits: Pick<Limits, "maxNameBytes">): string | undefined {
  if (name === "") return "has an empty part";
  if (name === "." || name === "..") return `has the part "${name}"`;
  if (/[\u0000-\u001f\u007f]/.test(name)) return "holds a control character";
  if (name.includes("/") || name.includes("\\")) return "holds a slash or backslash inside a name";
  if (/[. ]$/.test(name)) return "has a part that ends in a point or a space";
  if (isGitFolder(name)) return 'names git\'s own folder ".git"';
  if (/^[a-z]:/i.test(name)) return "names a drive";
  if (DEVICE.test(name)) return "names a device of Windows";
  if (Buffer.byteLength(name) > limits.maxNameBytes) return "has a part that is too long";
  return undefined;
}

/** Whether some file system takes a name for `.git`. */
export function isGitFolder(name: string): boolean {
  return GIT_ALIAS.test(name.replaceAll(IGNORABLE, ""));
}

/** The form in which two names are the same on a file system that folds case and composition. */
export function foldName(name: string): string {
  // Upper case first: it is what brings `ß` and `ss`, long and round s, and final sigma together.
  return name.normalize("NFD").toUpperCase().toLowerCase().normalize("NFC");
}

/** Reads bytes as UTF-8; `undefined` where they are not. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
