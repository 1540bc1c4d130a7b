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
  }

  export interface LocalFileHeader {
    readonly fileName: Buffer;
    readonly fileDataStart: number;
  }

  export interface ZipFile {
    readonly entryCount: number;
    close(): void;
    eachEntry(): AsyncIterable<Entry>;
    openReadStreamPromise(entry: Entry): Promise<Readable>;
    readLocalFileHeaderPromise(entry: Entry): Promise<LocalFileHeader>;
  }

  export function openPromise(
    path: string,
    options: {
      readonly autoClose: boolean;
      readonly decodeStrings: boolean;
      readonly validateEntrySizes: boolean;
    },
  ): Promise<ZipFile>;
}
