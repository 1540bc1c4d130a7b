/** The fields of an entry's headers (APPNOTE.TXT 4.3, 4.4 and 4.5 of PKWARE; the time is the field "UT" of Info-ZIP). */
export interface HeaderFields {
  /** With a slash at its end where it is a folder. */
  readonly name: string;
  readonly mode: number;
  readonly modifiedAt: Date;
  /** The offset of the local header. */
  readonly offset: number;
  readonly isDeflated: boolean;
  /** Whether checksum and sizes follow the content. */
  readonly isStreamed: boolean;
  /** Whether the local header has room for sizes beyond 4 GiB. */
  readonly isLarge: boolean;
  readonly crc: number;
  readonly size: number;
  readonly packedSize: number;
}

const MAX_U32 = 0xffff_ffff;
const MADE_BY_UNIX_45 = (3 << 8) | 45;
const UTF8 = 1 << 11;
const SIZES_FOLLOW = 1 << 3;
// 1980-01-01, the first day that the old field knows.
const FIRST_DATE = (1 << 5) | 1;

/** The header before the content of an entry. */
export function localHeader(fields: HeaderFields): Buffer {
  const name = Buffer.from(fields.name);
  // An entry whose sizes follow has zeros here, and its field for large sizes says only that large ones will follow.
  const sizes = fields.isLarge ? field(0x0001, [u64(fields.size), u64(fields.packedSize)]) : Buffer.alloc(0);
  const extra = Buffer.concat([sizes, timeField(fields)]);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x0403_4b50, 0);
  header.writeUInt16LE(fields.isLarge ? 45 : 20, 4);
  writeCommon(header, 6, fields);
  header.writeUInt32LE(fields.isLarge ? MAX_U32 : fields.packedSize, 18);
  header.writeUInt32LE(fields.isLarge ? MAX_U32 : fields.size, 22);
  header.writeUInt16LE(name.byteLength, 26);
  header.writeUInt16LE(extra.byteLength, 28);
  return Buffer.concat([header, name, extra]);
}

/** The checksum and sizes after the content of a streamed entry. */
export function sizesAfter({ crc, size, packedSize, isLarge }: HeaderFields): Buffer {
  const head = Buffer.concat([u32(0x0807_4b50), u32(crc)]);
  return Buffer.concat([head, ...(isLarge ? [u64(packedSize), u64(size)] : [u32(packedSize), u32(size)])]);
}

/** The entry's header in the central directory. */
export function centralHeader(fields: HeaderFields): Buffer {
  const { size, packedSize, offset } = fields;
  const name = Buffer.from(fields.name);
  const large = [size, packedSize, offset].filter((number) => number >= MAX_U32).map(u64);
  const extra = Buffer.concat([large.length > 0 ? field(0x0001, large) : Buffer.alloc(0), timeField(fields)]);
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x0201_4b50, 0);
  header.writeUInt16LE(MADE_BY_UNIX_45, 4);
  header.writeUInt16LE(large.length > 0 || fields.isLarge ? 45 : 20, 6);
  writeCommon(header, 8, fields);
  header.writeUInt32LE(Math.min(packedSize, MAX_U32), 20);
  header.writeUInt32LE(Math.min(size, MAX_U32), 24);
  header.writeUInt16LE(name.byteLength, 28);
  header.writeUInt16LE(extra.byteLength, 30);
  header.writeUInt32LE(((fields.mode & 0xffff) << 16) >>> 0, 38);
  header.writeUInt32LE(Math.min(offset, MAX_U32), 42);
  return Buffer.concat([header, name, extra]);
}

/** The end of an archive whose central directory begins at `start`. */
export function endOfZip(entries: number, start: number, bytes: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x0605_4b50, 0);
  end.writeUInt16LE(Math.min(entries, 0xffff), 8);
  end.writeUInt16LE(Math.min(entries, 0xffff), 10);
  end.writeUInt32LE(Math.min(bytes, MAX_U32), 12);
  end.writeUInt32LE(Math.min(start, MAX_U32), 16);
  if (entries < 0xffff && bytes < MAX_U32 && start < MAX_U32) return end;
  const versions = Buffer.alloc(12);
  versions.writeUInt16LE(MADE_BY_UNIX_45, 0);
  versions.writeUInt16LE(45, 2);
  const counts = [u64(entries), u64(entries), u64(bytes), u64(start)];
  const large = Buffer.concat([u32(0x0606_4b50), u64(44), versions, ...counts]);
  return Buffer.concat([large, u32(0x0706_4b50), u32(0), u64(start + bytes), u32(1), end]);
}

/** Flags, method, the old field of the time, and the checksum, which both headers have in this order. */
function writeCommon(header: Buffer, at: number, fields: HeaderFields): void {
  header.writeUInt16LE(UTF8 | (fields.isStreamed ? SIZES_FOLLOW : 0), at);
  header.writeUInt16LE(fields.isDeflated ? 8 : 0, at + 2);
  header.writeUInt16LE(FIRST_DATE, at + 6);
  header.writeUInt32LE(fields.crc, at + 8);
}

function timeField({ modifiedAt }: HeaderFields): Buffer {
  const seconds = Math.floor(modifiedAt.getTime() / 1000);
  const time = Buffer.alloc(5);
  time.writeUInt8(1);
  time.writeInt32LE(Math.min(Math.max(seconds, -0x8000_0000), 0x7fff_ffff), 1);
  return field(0x5455, [time]);
}

function field(id: number, parts: readonly Buffer[]): Buffer {
  const data = Buffer.concat(parts);
  const head = Buffer.alloc(4);
  head.writeUInt16LE(id, 0);
  head.writeUInt16LE(data.byteLength, 2);
  return Buffer.concat([head, data]);
}

function u32(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
}

function u64(number: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(number));
  return bytes;
}
