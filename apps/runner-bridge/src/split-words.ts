import { UsageError } from "@steps/console";

/**
 * Splits a command line into words as a shell does, without anything else that a shell does: blanks separate, quotes and
 * backslashes keep them. @throws {UsageError}
 */
export function splitWords(flag: string, text: string): [string, ...string[]] {
  const words: string[] = [];
  const pattern = /\s+|((?:[^\s"'\\]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+)|([\s\S])/g;
  for (const [, word, stray] of text.matchAll(pattern)) {
    if (stray !== undefined)
      throw new UsageError(`--${flag} has a ${stray === "\\" ? "backslash" : "quote"} without an end: ${text}`);
    if (word !== undefined) words.push(unquote(word));
  }
  const [first, ...rest] = words;
  if (first === undefined || first === "") throw new UsageError(`--${flag} names no command`);
  return [first, ...rest];
}

function unquote(word: string): string {
  return word.replace(
    /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])/g,
    (_, single?: string, double?: string, escaped?: string) =>
      double === undefined ? (single ?? escaped ?? "") : double.replace(/\\([\\"$`])/g, "$1"),
  );
}
