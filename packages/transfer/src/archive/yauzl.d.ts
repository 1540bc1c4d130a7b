// yauzl ships no types. These are the parts that are used.
declare module "yauzl" {
  import type { Readable } from "node:stream";

  export interface Entry {
    /** Bytes, because strings are not decoded. */
    readonly fileName: Buffer;
    readonly versionMadeBy: number;
    readonly compressionMethod: number;
    readonly crc32: number;
    readonly compressedSize: number;
    readonly uncompressedSize: number;
    readonly externalFileAttributes: number;
    readonly relativeOffsetOfLocalHeader: number;
    isEncrypted(): boolean;
    getLastModDate(): Date;
  }

  export interface ZipFile {
    readonly entryCount: number;
    eachEntry(): AsyncIterable<Entry>;
    openReadStreamPromise(entry: Entry): Promise<Readable>;
  }

  export function fromFdPromise(
    fd: number,
    options: {
      readonly autoClose: boolean;
      readonly decodeStrings: boolean;
      readonly validateEntrySizes: boolean;
    },
  ): Promise<ZipFile>;
}
