import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** The faults of a WebSocket of the test double, down to the byte. */
export interface WebSocketFault {
  /** The connection is cut after this many bytes were sent after the upgrade, mostly in the middle of a frame. */
  readonly dropAfterBytes?: number;
  /** The connection is cut after this many bytes were received after the upgrade. */
  readonly dropAfterReceivedBytes?: number;
  /** Every message is sent as continuation frames of so many bytes. */
  readonly fragmentBytes?: number;
  /** Every frame is written to the socket in pieces of so many bytes. */
  readonly writeBytes?: number;
  /** Pings are not answered. */
  readonly hasNoPong?: boolean;
}

export interface WebSocketEvents {
  readonly onMessage: (message: Buffer) => void;
  /** The connection is over, however it ended; called once. */
  readonly onClose: () => void;
  /** Called when all written data has been sent and more may be written. */
  readonly onDrain: () => void;
}

/** The server's end of a WebSocket (RFC 6455), by hand, so that faults can be put at any byte. */
export interface ServerWebSocket {
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** False: wait for `onDrain`. */
  send(message: Uint8Array): boolean;
  close(code: number, reason?: string): void;
  pause(): void;
  resume(): void;
  /** Cuts the connection without a word. */
  drop(): void;
}

/** Answers an upgrade and speaks WebSocket from then on; `protocol` is the chosen subprotocol, if any. */
export function acceptWebSocket(
  request: IncomingMessage,
  socket: Duplex,
  options: { head: Buffer; protocol: string | undefined; fault: WebSocketFault } & WebSocketEvents,
): ServerWebSocket {
  const key = createHash("sha1").update(`${request.headers["sec-websocket-key"]}${GUID}`).digest("base64");
  const lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
  lines.push(`Sec-WebSocket-Accept: ${key}`);
  if (options.protocol !== undefined) lines.push(`Sec-WebSocket-Protocol: ${options.protocol}`);
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const writer = createWriter(socket, options.fault);
  let receivedBytes = 0;
  let isClosing = false;
  const close = (code: number, reason = ""): void => {
    if (isClosing) return;
    isClosing = true;
    const body = Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]);
    writer.write(frame(8, body));
    socket.end();
  };
  const reader = createReader({
    onMessage: options.onMessage,
    onPing: (payload) => options.fault.hasNoPong !== true && writer.write(frame(10, payload)),
    onClose: () => close(1000),
    onError: () => close(1002),
  });
  const receive = (chunk: Buffer): void => {
    receivedBytes += chunk.length;
    const limit = options.fault.dropAfterReceivedBytes;
    if (limit !== undefined && receivedBytes >= limit) socket.destroy();
    else reader(chunk);
  };
  socket.on("data", receive);
  socket.on("drain", options.onDrain);
  socket.on("error", () => socket.destroy());
  socket.on("end", () => socket.destroy());
  socket.on("close", options.onClose);
  if (options.head.length > 0) setImmediate(receive, options.head);
  return {
    get sentBytes() {
      return writer.sentBytes();
    },
    get receivedBytes() {
      return receivedBytes;
    },
    send: (message) => isClosing || writer.send(message),
    close,
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    drop: () => void socket.destroy(),
  };
}

function frame(opcode: number, payload: Uint8Array, isFinal = true): Buffer {
  const { length } = payload;
  const headBytes = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const out = Buffer.allocUnsafe(headBytes + length);
  out[0] = (isFinal ? 0x80 : 0) | opcode;
  out[1] = length < 126 ? length : length < 65_536 ? 126 : 127;
  if (headBytes === 4) out.writeUInt16BE(length, 2);
  if (headBytes === 10) out.writeBigUInt64BE(BigInt(length), 2);
  out.set(payload, headBytes);
  return out;
}

interface Writer {
  readonly sentBytes: () => number;
  write(bytes: Buffer): boolean;
  send(message: Uint8Array): boolean;
}

function createWriter(socket: Duplex, fault: WebSocketFault): Writer {
  let sentBytes = 0;
  const put = (bytes: Buffer): boolean => {
    if (socket.destroyed || socket.writableEnded) return true;
    const left = (fault.dropAfterBytes ?? Infinity) - sentBytes;
    sentBytes += Math.min(bytes.length, left);
    if (left >= bytes.length) return socket.write(bytes);
    socket.write(bytes.subarray(0, left), () => socket.destroy());
    socket.end();
    return true;
  };
  const write = (bytes: Buffer): boolean => {
    const size = fault.writeBytes ?? bytes.length;
    let isOk = true;
    for (let at = 0; at < bytes.length; at += size) isOk = put(bytes.subarray(at, at + size));
    return isOk;
  };
  const send = (message: Uint8Array): boolean => {
    const size = fault.fragmentBytes ?? Math.max(message.length, 1);
    if (message.length <= size) return write(frame(2, message));
    let isOk = true;
    for (let at = 0; at < message.length; at += size) {
      isOk = write(frame(at === 0 ? 2 : 0, message.subarray(at, at + size), at + size >= message.length));
    }
    return isOk;
  };
  return { sentBytes: () => sentBytes, write, send };
}

interface ReaderEvents {
  readonly onMessage: (message: Buffer) => void;
  readonly onPing: (payload: Buffer) => void;
  readonly onClose: () => void;
  readonly onError: () => void;
}

/** Takes the bytes of a client as they come and tells messages, whole, unmasked. */
function createReader(events: ReaderEvents): (chunk: Buffer) => void {
  let held: Buffer = Buffer.alloc(0);
  let parts: Buffer[] = [];
  let isOver = false;
  const take = (next: Frame): void => {
    if (next.opcode === 9) return events.onPing(next.payload);
    if (next.opcode === 10) return;
    if (next.opcode === 8) {
      isOver = true;
      return events.onClose();
    }
    parts.push(next.payload);
    if (!next.isFinal) return;
    const message = parts.length === 1 ? next.payload : Buffer.concat(parts);
    parts = [];
    events.onMessage(message);
  };
  return (chunk) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    while (!isOver) {
      const next = parseFrame(held);
      if (next === "more") return;
      if (next === "invalid") {
        isOver = true;
        return events.onError();
      }
      held = held.subarray(next.totalBytes);
      take(next);
    }
  };
}

interface Frame {
  readonly isFinal: boolean;
  readonly opcode: number;
  readonly payload: Buffer;
  readonly totalBytes: number;
}

function parseFrame(bytes: Buffer): Frame | "more" | "invalid" {
  if (bytes.length < 2) return "more";
  const [first, second] = [bytes.readUInt8(0), bytes.readUInt8(1)];
  if ((first & 0x70) !== 0 || (second & 0x80) === 0) return "invalid";
  const kind = second & 0x7f;
  const headBytes = (kind < 126 ? 2 : kind === 126 ? 4 : 10) + 4;
  if (bytes.length < headBytes) return "more";
  const length = kind < 126 ? kind : kind === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (length > MAX_MESSAGE_BYTES) return "invalid";
  if (bytes.length < headBytes + length) return "more";
  const payload = Buffer.allocUnsafe(length);
  const mask = bytes.subarray(headBytes - 4, headBytes);
  for (let at = 0; at < length; at += 1) payload[at] = (bytes[headBytes + at] ?? 0) ^ (mask[at & 3] ?? 0);
  return { isFinal: (first & 0x80) !== 0, opcode: first & 0x0f, payload, totalBytes: headBytes + length };
}
