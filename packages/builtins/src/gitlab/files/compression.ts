import type { BuiltinPlace, Inputs } from "../../images/builtin-images.ts";
import { optionalText, warn } from "../gitlab-step.ts";

// Those of GitLab's runner: the fastest does not compress.
const LEVELS: Readonly<Record<string, number>> = { fastest: 0, fast: 1, default: 5, slow: 7, slowest: 9 };
const DEFAULT_LEVEL = 5;

/** zlib's number for the word in `compression_level`. Another word is the default, with a warning, as in GitLab's runner. */
export function compressionLevel(inputs: Inputs, place: BuiltinPlace): number {
  const word = optionalText(inputs, "compression_level");
  const level = Object.hasOwn(LEVELS, word) ? LEVELS[word] : undefined;
  if (level === undefined && word !== "") {
    warn(place, `The level of compression "${word}" is none of ${Object.keys(LEVELS).join(", ")}: it is default`);
  }
  return level ?? DEFAULT_LEVEL;
}
