import { crc32, deflateRawSync } from "node:zlib";

/** One entry of an archive. Everything after `mode` is for archives that lie. */
export interface ZipEntryInput {
  /** Written as it is: `../x`, `/etc/passwd`, `a\\b` and bytes that are not UTF-8 are possible. Folders end in `/`. */
  readonly name: string | Uint8Array;
  readonly content?: string | Uint8Array;
  /** Unix mode with its type: `0o100755`, `0o120777` (symlink to its content), `0o020666` (device). */
  readonly mode?: number;
  readonly method?: "deflate" | "store";
  /** Another name in the local header. */
  readonly localName?: string;
  /** Uncompressed size that both headers claim. */
  readonly declaredBytes?: number;
  readonly declaredCrc32?: number;
  /** Compression method number that both headers claim. */
  readonly declaredMethod?: number;
  readonly isMarkedEncrypted?: boolean;
  /** Index of an earlier entry whose local header and data this one claims as its own. */
  readonly sharesDataOf?: number;
  /** Bytes that stand for the compressed data. */
  readonly rawData?: Uint8Array;
}

export interface ZipOptions {
  readonly comment?: string;
  /** Bytes before the first local header, as in a self-extracting archive. */
  readonly prefix?: Uint8Array;
  /** Number of entries that the end record claims. */
  readonly declaredEntries?: number;
}

const UTF8_FLAG = 0x800;
const ENCRYPTED_FLAG = 0x1;

interface Written {
  readonly name: Buffer;
  readonly offset: number;
  readonly shared: Buffer;
  readonly attributes: number;
}

/** Builds an archive byte by byte, without asking whether it makes sense. */
export function buildZip(entries: readonly ZipEntryInput[], options: ZipOptions = {}): Buffer {
  const parts: Buffer[] = [Buffer.from(options.prefix ?? [])];
  let offset = parts[0]?.byteLength ?? 0;
  const written: Written[] = [];
  for (const entry of entries) {
    const name = Buffer.from(entry.name as string);
    const { shared, data } = encode(entry);
    const earlier = entry.sharesDataOf === undefined ? undefined : written[entry.sharesDataOf];
    const attributes = ((entry.mode ?? (name.at(-1) === 0x2f ? 0o040755 : 0o100644)) << 16) >>> 0;
    written.push({ name, offset: earlier?.offset ?? offset, shared: earlier?.shared ?? shared, attributes });
    if (earlier !== undefined) continue;
    const localName = entry.localName === undefined ? name : Buffer.from(entry.localName);
    const local = [Buffer.from("PK\x03\x04", "latin1"), shared, u16(localName.byteLength), u16(0), localName, data];
    parts.push(...local);
    offset += local.reduce((sum, part) => sum + part.byteLength, 0);
  }
  const central = Buffer.concat(written.map(centralRecord));
  const comment = Buffer.from(options.comment ?? "");
  const total = options.declaredEntries ?? written.length;
  const end = [u16(0), u16(0), u16(total), u16(total), u32(central.byteLength), u32(offset), u16(comment.byteLength)];
  return Buffer.concat([...parts, central, Buffer.from("PK\x05\x06", "latin1"), ...end, comment]);
}

/** The fields from "version needed" to "uncompressed size", which both headers have in common, and the data. */
function encode(entry: ZipEntryInput): { shared: Buffer; data: Buffer } {
  const content = Buffer.from((entry.content ?? "") as string);
  const isStored = entry.method === "store" || (entry.method === undefined && content.byteLength === 0);
  const data = Buffer.from(entry.rawData ?? (isStored ? content : deflateRawSync(content)));
  const flags = UTF8_FLAG | (entry.isMarkedEncrypted === true ? ENCRYPTED_FLAG : 0);
  const shared = Buffer.concat([
    u16(20),
    u16(flags),
    u16(entry.declaredMethod ?? (isStored ? 0 : 8)),
    u16(0),
    u16(0x21),
    u32(entry.declaredCrc32 ?? crc32(content)),
    u32(data.byteLength),
    u32(entry.declaredBytes ?? content.byteLength),
  ]);
  return { shared, data };
}

function centralRecord({ name, offset, shared, attributes }: Written): Buffer {
  const madeByUnix = u16((3 << 8) | 20);
  const sizes = [u16(name.byteLength), u16(0), u16(0), u16(0), u16(0)];
  return Buffer.concat([
    Buffer.from("PK\x01\x02", "latin1"),
    madeByUnix,
    shared,
    ...sizes,
    u32(attributes),
    u32(offset),
    name,
  ]);
}

function u16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeUInt16LE(value);
  return buffer;
}

function u32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}
