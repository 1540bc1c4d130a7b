import { fromBinary } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import { FollowIOResponse_StreamType, FollowIOResponseSchema } from "@steps/proto/service";
import type { OutputPiece } from "./service-client.ts";

const PREFIX_BYTES = 5;
/** More than the fields before the bytes of a message can take. */
const HEAD_BYTES = 48;
const NOTHING = new Uint8Array(0);

/** The fields that precede the bytes of a message. */
interface Head {
  readonly stream: OutputPiece["stream"];
  readonly offset: number;
  /** The offset at which the bytes begin, and their number. */
  readonly start: number;
  readonly bytes: number;
}

/**
 * Splits the body of a `FollowIO` into pieces of output. The bytes of a message are given as they come and never copied,
 * where they are its last field, as our service sends them; other messages are waited for.
 */
export class OutputSplitter {
  readonly #maxBytes: number;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #piece: { readonly stream: OutputPiece["stream"]; offset: number; left: number } | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0 && this.#piece === undefined;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  /** The next piece, if anything of it is there. @throws {ConnectError} for what is no message */
  shift(): OutputPiece | undefined {
    if (this.#piece === undefined) {
      const whole = this.#open();
      if (whole !== undefined) return whole;
    }
    return this.#piece === undefined ? undefined : this.#part(this.#piece);
  }

  #part(piece: { readonly stream: OutputPiece["stream"]; offset: number; left: number }): OutputPiece | undefined {
    const [first] = this.#chunks;
    if (first === undefined) return undefined;
    const bytes = first.length > piece.left ? first.subarray(0, piece.left) : first;
    this.#drop(bytes.length);
    const { stream, offset } = piece;
    piece.offset += bytes.length;
    piece.left -= bytes.length;
    if (piece.left === 0) this.#piece = undefined;
    return { stream, bytes, offset };
  }

  /** Begins a message; gives it if it has to be taken whole. */
  #open(): OutputPiece | undefined {
    if (this.#bytes < PREFIX_BYTES) return undefined;
    const prefix = this.#peek(PREFIX_BYTES);
    if (prefix[0] !== 0) throw new ConnectError(`The service sent a message with flags ${prefix[0]}`, Code.Internal);
    const length = new DataView(prefix.buffer, prefix.byteOffset).getUint32(1);
    if (length > this.#maxBytes)
      throw new ConnectError(`The service sent a message of ${length} bytes`, Code.ResourceExhausted);
    const known = Math.min(length, HEAD_BYTES);
    if (this.#bytes < PREFIX_BYTES + known) return undefined;
    const head = readHead(this.#peek(PREFIX_BYTES + known).subarray(PREFIX_BYTES), length);
    if (head === undefined) return this.#whole(length);
    this.#drop(PREFIX_BYTES + head.start);
    const { stream, offset, bytes } = head;
    if (bytes === 0) return { stream, bytes: NOTHING, offset };
    this.#piece = { stream, offset, left: bytes };
    return undefined;
  }

  #whole(length: number): OutputPiece | undefined {
    if (this.#bytes < PREFIX_BYTES + length) return undefined;
    const message = this.#peek(PREFIX_BYTES + length).subarray(PREFIX_BYTES);
    this.#drop(PREFIX_BYTES + length);
    try {
      const { stream, streamType, offset } = fromBinary(FollowIOResponseSchema, message);
      return { stream: nameOf(streamType), bytes: stream, offset: Number(offset) };
    } catch (cause) {
      throw new ConnectError("The service sent a message that is none", Code.Internal, undefined, undefined, cause);
    }
  }

  /**
   * Returns the next `count` bytes as one array without consuming them. The caller has checked that they have arrived.
   */
  #peek(count: number): Uint8Array {
    const [first = NOTHING] = this.#chunks;
    if (first.length >= count) return first.subarray(0, count);
    this.#chunks = [Buffer.concat(this.#chunks)];
    return (this.#chunks[0] as Uint8Array).subarray(0, count);
  }

  #drop(count: number): void {
    this.#bytes -= count;
    let left = count;
    while (left > 0) {
      const first = this.#chunks[0] as Uint8Array;
      if (first.length > left) {
        this.#chunks[0] = first.subarray(left);
        return;
      }
      left -= first.length;
      this.#chunks.shift();
    }
  }
}

const BYTES_FIELD = FollowIOResponseSchema.field.stream.number;

/** Absent for a message whose bytes are not its last field. */
function readHead(bytes: Uint8Array, length: number): Head | undefined {
  const reader = new BinaryReader(bytes);
  try {
    while (reader.pos < reader.len) {
      const end = reader.pos;
      const [no, type] = reader.tag();
      if (no !== BYTES_FIELD || type !== WireType.LengthDelimited) {
        reader.skip(type, no);
        continue;
      }
      const count = reader.uint32();
      if (reader.pos + count !== length) return undefined;
      const { streamType, offset } = fromBinary(FollowIOResponseSchema, bytes.subarray(0, end));
      return { stream: nameOf(streamType), offset: Number(offset), start: reader.pos, bytes: count };
    }
  } catch {
    // Cut off by the end of what was looked at: the whole message will tell.
  }
  return undefined;
}

function nameOf(type: number): OutputPiece["stream"] {
  return type === FollowIOResponse_StreamType.stderr ? "stderr" : "stdout";
}
