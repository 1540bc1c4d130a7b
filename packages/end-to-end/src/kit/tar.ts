/** An entry of a tar archive; each field is written as it is. */
export interface TarEntry {
  readonly name: string | Buffer;
  /** One character: `0` file, `1` hard link, `2` symlink, `3` device, `5` folder, `6` pipe, `x` pax, `L` GNU's long name. */
  readonly type?: string;
  readonly content?: string | Uint8Array;
  readonly target?: string;
  readonly mode?: number;
  /** The size that the header claims, in place of the length of the content. */
  readonly size?: number | Buffer;
}

const BLOCK = 512;

/** Builds a tar archive block by block, without asking whether it makes sense; long names go into an entry of GNU's. */
export function buildTar(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap(withLongNames).map(blocksOf), Buffer.alloc(2 * BLOCK)]);
}

function withLongNames(entry: TarEntry): TarEntry[] {
  const name = Buffer.from(entry.name as string);
  const target = Buffer.from(entry.target ?? "");
  return [
    ...(name.length > 100
      ? [{ name: "././@LongLink", type: "L", content: Buffer.concat([name, Buffer.alloc(1)]) }]
      : []),
    ...(target.length > 100
      ? [{ name: "././@LongLink", type: "K", content: Buffer.concat([target, Buffer.alloc(1)]) }]
      : []),
    entry,
  ];
}

function blocksOf({ name, type = "0", content = "", target = "", mode = 0o644, size }: TarEntry): Buffer {
  const data = Buffer.from(content as string);
  const head = Buffer.alloc(BLOCK);
  Buffer.from(name as string).copy(head, 0, 0, 100);
  const number = (value: number, at: number, length: number): void =>
    void head.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  number(mode, 100, 8);
  number(0, 108, 8);
  number(0, 116, 8);
  if (typeof size === "object") size.copy(head, 124);
  else number(size ?? data.length, 124, 12);
  number(0, 136, 12);
  head.write("        ", 148, "latin1");
  head.write(type, 156, "latin1");
  Buffer.from(target).copy(head, 157, 0, 100);
  head.write("ustar\u000000", 257, "latin1");
  number(
    head.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return Buffer.concat([head, data, Buffer.alloc((BLOCK - (data.length % BLOCK)) % BLOCK)]);
}

/** A record of a pax header: its length, a blank, the field. */
export function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return `${length}${rest}`;
}
