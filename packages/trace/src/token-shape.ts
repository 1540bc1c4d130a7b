import { type Automaton, createAutomaton } from "./automaton.ts";

/**
 * Finds tokens of GitLab by their shape: a known prefix, and after it as many letters, digits and `-._=` as there are. GitLab's
 * runner masks these in logs that it writes itself, not in logs that come to it finished, as ours do.
 */
export interface TokenScanner {
  /**
   * Reads `bytes` from `start` on, which follow what was read before. Calls `onToken` for what comes after each prefix, the
   * `continued` part of one whose beginning was in the bytes before.
   */
  scan(bytes: Uint8Array, start: number, onToken: OnToken): void;
}

/** The shapes of tokens to look for. */
export interface TokenShapes {
  /** Whether a text may hold such a token; when false, it holds none. */
  mayHold(text: string): boolean;
  /** A scanner for one stream of bytes. It holds nothing back: what is before a token is never part of one. */
  scanner(): TokenScanner;
}

type OnToken = (start: number, end: number, continued: boolean) => void;

// The prefixes of the runner's own list (its FF_MASK_ALL_DEFAULT_TOKENS), and two of the token overview in GitLab's documentation
// that came later: those of runners that were registered in the old way, and of workspaces.
const NAMES = "pat oas dt rt rtr cbt ptt ft imt agent soat ffct wt tok".split(" ");
const SESSION = "_gitlab_session=";
const START = "gl";
const PREFIXES: readonly string[] = [...NAMES.map((name) => `${START}${name}-`), SESSION];
const SHAPE = new RegExp(`(?:${START}(?:${NAMES.join("|")})-|${SESSION})[\\w.=-]`);
/** The length of the shortest prefix with one character behind it. */
const MIN_LENGTH = Math.min(...PREFIXES.map((prefix) => prefix.length)) + 1;
const MAX_PREFIX = SESSION.length;
const MAX_NAME = 5;
const LETTER_G = 0x67;
const LETTER_L = 0x6c;
const UNDERSCORE = 0x5f;
const HYPHEN = 0x2d;
const MAX_SHORT = 1024;
// One of so many bytes may start a prefix; where more do, a plain loop is faster than a call for each.
const BYTES_PER_CALL = 64;

/**
 * The shapes of GitLab's tokens, and of those that begin with further prefixes. All prefixes are found, wherever they overlap, in a
 * time that grows with the bytes alone.
 */
export function createTokenShapes(further: readonly string[] = []): TokenShapes {
  const own = [...new Set(further)].filter((prefix) => prefix !== "" && !PREFIXES.includes(prefix));
  if (own.length === 0) return { mayHold: hasToken, scanner: createTokenScanner };
  const automaton = createAutomaton([...PREFIXES, ...own].map((prefix) => Buffer.from(prefix)));
  return { mayHold: (text) => holdsPrefix(automaton, text), scanner: () => createPrefixScanner(automaton) };
}

const isTokenByte = new Uint8Array(256);
for (const byte of Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._="))
  isTokenByte[byte] = 1;

/** Whether a text holds such a token. */
function hasToken(text: string): boolean {
  return text.length >= MIN_LENGTH && (text.includes(START) || text.includes(SESSION)) && SHAPE.test(text);
}

/** Known for sure as long as the text is ASCII. */
function holdsPrefix(automaton: Automaton, text: string): boolean {
  let isFound = false;
  const state = automaton.scanText(text, () => {
    isFound = true;
  });
  return state === -1 || isFound;
}

/** A scanner for any prefixes. One may hold others, or end within a token that another one begins. */
function createPrefixScanner(automaton: Automaton): TokenScanner {
  let state = 0;
  let isInside = false;
  let isBegun = false;
  return {
    scan(bytes, start, onToken) {
      let readTo = start;
      const read = (from: number): void => {
        let end = from;
        while (end < bytes.length && isTokenByte[bytes[end] as number] === 1) end += 1;
        if (end > from) onToken(from, end, isBegun);
        readTo = end;
        isInside = end === bytes.length;
        isBegun = isInside && (isBegun || end > from);
      };
      if (isInside) read(start);
      state = automaton.scan(bytes, { start, state }, (end) => {
        // A prefix within a token that was read begins none of its own.
        if (end >= readTo) read(end);
      });
    },
  };
}

/** A scanner for GitLab's own prefixes, which is faster than one for any. */
function createTokenScanner(): TokenScanner {
  /** The end of the stream so far, where it may begin a prefix. */
  let partial = "";
  let isInside = false;
  let isBegun = false;

  /** Reads a token from `start` on and gives the offset after it. */
  const read = (bytes: Uint8Array, start: number, onToken: OnToken): number => {
    let end = start;
    while (end < bytes.length && isTokenByte[bytes[end] as number] === 1) end += 1;
    if (end > start) onToken(start, end, isBegun);
    isInside = end === bytes.length;
    isBegun = isInside && (isBegun || end > start);
    return end;
  };

  return {
    scan(bytes, start, onToken) {
      if (start === bytes.length) return;
      let at = isInside ? read(bytes, start, onToken) : start;
      if (partial !== "") {
        const head = partial + latin1(bytes, at, at + MAX_PREFIX - 1);
        const end = endOfPrefix(head) - partial.length;
        if (end > 0) at = read(bytes, at + end, onToken);
        else if (bytes.length - at < MAX_PREFIX - 1) {
          partial = mayBegin(head);
          return;
        }
      }
      const find = createFinder(bytes);
      for (let end = find(at); end !== -1; end = find(at)) at = read(bytes, end, onToken);
      partial = isInside ? "" : partialOf(bytes, at);
    },
  };
}

/** Gives the offset after the next prefix that begins at or after an offset; -1 when there is none. */
function createFinder(bytes: Uint8Array): (from: number) => number {
  if (bytes.length <= MAX_SHORT) return (from) => nextInLoop(bytes, from, bytes.length);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let session = -2;
  let calls = 0;
  return (from) => {
    if (session !== -1 && session < from) session = buffer.indexOf(SESSION, from, "latin1");
    const limit = session === -1 ? bytes.length : session;
    let at = from;
    while (at < limit) {
      if ((calls += 1) * BYTES_PER_CALL > at + MAX_SHORT) {
        const end = nextInLoop(bytes, at, Math.min(limit, at + MAX_SHORT));
        if (end !== -1) return end;
        at += MAX_SHORT;
      } else {
        at = buffer.indexOf(START, at, "latin1");
        if (at === -1 || at >= limit) break;
        const end = endOfName(bytes, at + START.length);
        if (end !== -1) return end;
        at += START.length;
      }
    }
    return session === -1 ? -1 : session + SESSION.length;
  };
}

/** The same by looking at each byte: for chunks so short that a call costs more, and where a call finds something all the time. */
function nextInLoop(bytes: Uint8Array, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    let end = -1;
    if (byte === LETTER_G) {
      if (bytes[at + 1] === LETTER_L) end = endOfName(bytes, at + START.length);
    } else if (byte === UNDERSCORE && bytes[at + 1] === LETTER_G) {
      if (latin1(bytes, at, at + SESSION.length) === SESSION) end = at + SESSION.length;
    }
    if (end !== -1) return end;
  }
  return -1;
}

/** The offset after `pat-` and the like. */
function endOfName(bytes: Uint8Array, from: number): number {
  const last = Math.min(from + MAX_NAME, bytes.length - 1);
  for (let at = from + 2; at <= last; at++) {
    if (bytes[at] === HYPHEN) return NAMES.includes(latin1(bytes, from, at)) ? at + 1 : -1;
  }
  return -1;
}

/** The end of some bytes from where they may begin a prefix. */
function partialOf(bytes: Uint8Array, from: number): string {
  for (let at = Math.max(from, bytes.length - MAX_PREFIX + 1); at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === LETTER_G || byte === UNDERSCORE) return mayBegin(latin1(bytes, at, bytes.length));
  }
  return "";
}

/** The offset after the first prefix in a short text; -1 when there is none. */
function endOfPrefix(text: string): number {
  let end = -1;
  for (const prefix of PREFIXES) {
    const at = text.indexOf(prefix);
    if (at !== -1 && (end === -1 || at + prefix.length < end)) end = at + prefix.length;
  }
  return end;
}

/** The end of a text from where it may begin a prefix. */
function mayBegin(text: string): string {
  for (let at = Math.max(0, text.length - MAX_PREFIX + 1); at < text.length; at++) {
    const end = text.slice(at);
    if (PREFIXES.some((prefix) => prefix.startsWith(end))) return end;
  }
  return "";
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1", start, end);
}
