/**
 * The words of `with.args`, a raw command line: parted by white space, with quotes as in a shell, and nothing expanded. A backslash
 * counts before a quote, before white space and before another one inside of double quotes in front of a quote; elsewhere it is
 * itself, as patterns and Windows paths have it. A single quote that is never closed is itself, a double one goes to the end.
 */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let at = 0;
  while (at < text.length) {
    const char = text[at] as string;
    if (isSpace(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      at += 1;
      continue;
    }
    const part = readPart(text, at);
    // A line that goes on in the next one holds no word by itself.
    if (part.text !== undefined) word = (word ?? "") + part.text;
    at = part.end;
  }
  if (word !== undefined) words.push(word);
  return words;
}

interface Part {
  readonly text: string | undefined;
  readonly end: number;
}

function readPart(text: string, at: number): Part {
  const char = text[at] as string;
  if (char === '"') return readDoubleQuoted(text, at + 1);
  if (char === "\\") return readBackslashes(text, at);
  if (char !== "'") return readPlain(text, at);
  const end = text.indexOf("'", at + 1);
  return end === -1 ? { text: char, end: at + 1 } : { text: text.slice(at + 1, end), end: end + 1 };
}

function readPlain(text: string, start: number): Part {
  let end = start;
  while (end < text.length && !isSpace(text[end] as string) && !`"'\\`.includes(text[end] as string)) end += 1;
  return { text: text.slice(start, end), end };
}

function readBackslashes(text: string, at: number): Part {
  const next = text[at + 1];
  if (next === "\n") return { text: undefined, end: at + 2 };
  if (next === "\r" && text[at + 2] === "\n") return { text: undefined, end: at + 3 };
  const isEscape = next !== undefined && (next === '"' || next === "'" || isSpace(next));
  return isEscape ? { text: next, end: at + 2 } : { text: "\\", end: at + 1 };
}

function readDoubleQuoted(text: string, start: number): Part {
  let read = "";
  let at = start;
  while (at < text.length && text[at] !== '"') {
    if (text[at] !== "\\") {
      read += text[at];
      at += 1;
      continue;
    }
    let end = at;
    while (text[end] === "\\") end += 1;
    const count = end - at;
    // Only in front of a quote do two of them stand for one.
    const isBeforeQuote = text[end] === '"';
    read += "\\".repeat(isBeforeQuote ? Math.floor(count / 2) : count);
    if (isBeforeQuote && count % 2 === 1) {
      read += '"';
      end += 1;
    }
    at = end;
  }
  return { text: read, end: at + 1 };
}

function isSpace(char: string): boolean {
  return char === " " || char === "\t" || char === "\n" || char === "\r";
}
