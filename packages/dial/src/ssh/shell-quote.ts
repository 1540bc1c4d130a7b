/** A word as every shell that a user may have as login shell takes it: in single quotes. */
export function shellQuote(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A command line of these words. */
export function shellCommand(words: readonly string[]): string {
  return words.map(shellQuote).join(" ");
}
