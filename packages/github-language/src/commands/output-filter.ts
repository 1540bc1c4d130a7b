import type { Interpreter } from "./interpreter.ts";
import { nextLineEnd, type Scanner, startsCandidate, tailStart } from "./output-scan.ts";

/** Turns the bytes of one stream of a process into what is printed. */
export interface OutputFilter {
  /** Returns the bytes to print now; they may be the chunk itself, or a part of its memory. */
  push(chunk: Uint8Array): Uint8Array;
  /** Returns the bytes to print when the stream has ended. */
  end(): Uint8Array;
}

/** A line with a command that is longer is plain output. */
export const MAX_COMMAND_BYTES: number = 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;

// The number of streams of an interpreter that have not ended. Open groups are closed with the last of them.
const openStreams = new WeakMap<Interpreter, number>();

const NOTHING: Buffer = Buffer.alloc(0);

/**
 * The place of the next byte: at the start of a line; in a line whose start has been printed, where only a command of
 * the older form may still begin; or in the rest of a line that is plain output.
 */
type Place = "start" | "middle" | "rest";

interface State {
  readonly interpreter: Interpreter;
  /** Identifies this stream. */
  readonly stream: object;
  place: Place;
  /**
   * The bytes that are not printed yet: the start of a line, or of a command in it, that may turn out to be a command.
   */
  held: Buffer;
  heldBytes: number;
  /** Whether what is held cannot turn out to be plain before its line ends. */
  isHeldToEnd: boolean;
  /** A line has ended with CR: whether a LF that follows belongs to what was printed or to what was not. */
  afterReturn: "print" | "drop" | undefined;
}

/**
 * A filter for one stream. Lines end with LF, CRLF or CR. Bytes that are no command pass unchanged, at once: only what
 * may still become a command waits for the end of its line (with problem matchers, all lines do), up to
 * `MAX_COMMAND_BYTES`. A replacement of a line ends with LF.
 */
export function createOutputFilter(interpreter: Interpreter): OutputFilter {
  openStreams.set(interpreter, (openStreams.get(interpreter) ?? 0) + 1);
  let hasEnded = false;
  const state: State = {
    interpreter,
    stream: {},
    place: "start",
    held: NOTHING,
    heldBytes: 0,
    isHeldToEnd: false,
    afterReturn: undefined,
  };
  return {
    push: (chunk) => push(state, chunk),
    end() {
      if (hasEnded) return NOTHING;
      hasEnded = true;
      return end(state);
    },
  };
}

function push(state: State, chunk: Uint8Array): Uint8Array {
  if (chunk.length === 0) return NOTHING;
  const parts: Uint8Array[] = [];
  let data = chunk;
  if (state.afterReturn !== undefined && data[0] === LF) {
    if (state.afterReturn === "print") parts.push(data.subarray(0, 1));
    data = data.subarray(1);
  }
  state.afterReturn = undefined;
  if (state.isHeldToEnd && !data.includes(LF) && !data.includes(CR)) {
    keep(state, data);
    if (state.heldBytes > MAX_COMMAND_BYTES) release(state, parts);
    return join(parts);
  }
  if (state.heldBytes > 0) {
    data = Buffer.concat([takeHeld(state), data]);
  }
  scan(state, { bytes: asBuffer(data), parts, at: 0, printed: 0 });
  return join(parts);
}

function end(state: State): Uint8Array {
  const { interpreter } = state;
  const parts: Uint8Array[] = [];
  if (state.heldBytes > 0) {
    const bytes = takeHeld(state);
    const text = bytes.toString("utf8");
    const result = interpreter.line(text, state.stream);
    parts.push(result === text ? bytes : Buffer.from(result ?? "", "utf8"));
  }
  const others = (openStreams.get(interpreter) ?? 1) - 1;
  openStreams.set(interpreter, others);
  const closing = others === 0 ? interpreter.close() : undefined;
  if (closing !== undefined) parts.push(Buffer.from(`${closing}\n`, "utf8"));
  return join(parts);
}

function scan(state: State, scanner: Scanner): void {
  if (state.place === "rest") skipLine(state, scanner);
  while (scanner.at < scanner.bytes.length) {
    const isAtStart = state.place === "start";
    const { needsAllLines } = state.interpreter;
    const start = isAtStart && needsAllLines ? scanner.at : startsCandidate(scanner, isAtStart);
    if (!isAtStart && needsAllLines && (start ?? Infinity) > (nextLineEnd(scanner, scanner.at) ?? Infinity)) {
      skipLine(state, scanner);
      continue;
    }
    if (start === undefined) break;
    const lineEnd = nextLineEnd(scanner, start);
    if (lineEnd === undefined) return holdToEnd(state, scanner, start);
    if (start > scanner.at) state.place = startOfLine(scanner, start) ? "start" : "middle";
    takeLine(state, scanner, { start, lineEnd });
  }
  finishPlain(state, scanner);
}

function startOfLine({ bytes, at }: Scanner, start: number): boolean {
  return start > at && (bytes[start - 1] === LF || bytes[start - 1] === CR);
}

// Hands a line, or its part from a command on, to the interpreter.
function takeLine(state: State, scanner: Scanner, line: { readonly start: number; readonly lineEnd: number }): void {
  const { bytes, parts } = scanner;
  const { start, lineEnd } = line;
  const isAtStart = state.place === "start";
  const next = bytes[lineEnd] === CR && bytes[lineEnd + 1] === LF ? lineEnd + 2 : lineEnd + 1;
  const isCutReturn = bytes[lineEnd] === CR && next === bytes.length;
  const text = lineEnd - start > MAX_COMMAND_BYTES ? undefined : bytes.toString("utf8", start, lineEnd);
  const result = text === undefined ? undefined : state.interpreter.line(text, state.stream);
  const isPlain = text === undefined || result === text;
  if (!isPlain) {
    if (start > scanner.printed) parts.push(bytes.subarray(scanner.printed, start));
    if (result !== undefined || !isAtStart) parts.push(Buffer.from(`${result ?? ""}\n`, "utf8"));
    scanner.printed = next;
  }
  scanner.at = next;
  state.place = "start";
  if (isCutReturn && bytes[next - 1] === CR) state.afterReturn = isPlain ? "print" : "drop";
}

function skipLine(state: State, scanner: Scanner): void {
  const lineEnd = nextLineEnd(scanner, scanner.at);
  scanner.at = lineEnd === undefined ? scanner.bytes.length : lineEnd + 1;
  if (lineEnd === undefined) return;
  state.place = "start";
  // With matchers an LF of its own would be an empty line.
  if (scanner.bytes[lineEnd] !== CR) return;
  if (scanner.at === scanner.bytes.length) state.afterReturn = "print";
  else if (scanner.bytes[scanner.at] === LF) scanner.at += 1;
}

function holdToEnd(state: State, scanner: Scanner, start: number): void {
  const { bytes, parts } = scanner;
  if (start > scanner.printed) parts.push(bytes.subarray(scanner.printed, start));
  if (start > scanner.at) state.place = startOfLine(scanner, start) ? "start" : "middle";
  keep(state, bytes.subarray(start));
  state.isHeldToEnd = true;
  if (state.heldBytes > MAX_COMMAND_BYTES) release(state, parts);
}

// No command begins in what is left, but its last bytes may be the first of one.
function finishPlain(state: State, scanner: Scanner): void {
  const { bytes, parts, printed } = scanner;
  if (scanner.at < bytes.length) {
    const last = bytes[bytes.length - 1];
    const start = state.place === "rest" ? bytes.length : tailStart(scanner, state.place === "start");
    if (start < bytes.length) keep(state, bytes.subarray(start));
    if (start > printed) parts.push(bytes.subarray(printed, start));
    const isLineStart =
      start > scanner.at ? bytes[start - 1] === LF || bytes[start - 1] === CR : state.place === "start";
    state.place = isLineStart ? "start" : "middle";
    if (last === CR) state.afterReturn = "print";
  } else if (printed < bytes.length) parts.push(bytes.subarray(printed));
}

function keep(state: State, bytes: Uint8Array): void {
  const needed = state.heldBytes + bytes.length;
  if (needed > state.held.length) {
    // Twice as much, so that a line that comes byte by byte is not copied again for each.
    const larger = Buffer.allocUnsafe(Math.max(256, 2 * needed));
    state.held.copy(larger, 0, 0, state.heldBytes);
    state.held = larger;
  }
  state.held.set(bytes, state.heldBytes);
  state.heldBytes = needed;
}

function release(state: State, parts: Uint8Array[]): void {
  parts.push(takeHeld(state));
  state.place = "rest";
}

function takeHeld(state: State): Buffer {
  const bytes = state.held.subarray(0, state.heldBytes);
  state.held = NOTHING;
  state.heldBytes = 0;
  state.isHeldToEnd = false;
  return bytes;
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  return parts.length === 1 ? (parts[0] as Uint8Array) : parts.length === 0 ? NOTHING : Buffer.concat(parts);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
