import { invalid } from "../../images/builtin-images.ts";

// Those of GitLab's runner: the fastest does not compress.
const LEVELS: Readonly<Record<string, number>> = { fastest: 0, fast: 1, default: 5, slow: 7, slowest: 9 };

/** zlib's number for a word. @throws {BuiltinError} BUILTIN_FAILED */
export function compressionLevel(word: string): number {
  const level = Object.hasOwn(LEVELS, word) ? LEVELS[word] : undefined;
  if (level !== undefined) return level;
  throw invalid(`compression_level "${word}" is none of ${Object.keys(LEVELS).join(", ")}`);
}
