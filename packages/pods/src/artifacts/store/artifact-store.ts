import type { Readable } from "node:stream";

/** A part of a file, both ends included. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A file that is being written. Nobody sees it before it is kept. */
export interface ArtifactWriter {
  /** Appends bytes; resolves when more may come. @throws {HttpError} 503 when the store does not take them */
  write(bytes: Buffer): Promise<void>;
  /** Puts the whole file in its place, for good when this resolves. @throws {HttpError} 503 */
  keep(): Promise<void>;
  /** Removes what is not kept. Never rejects. */
  discard(): Promise<void>;
}

/** The store of the files of artifacts, each under a name that is never used again. */
export interface ArtifactStore {
  /** Begins a file. @throws the error of the system */
  begin(object: string): Promise<ArtifactWriter>;
  /** Opens a file, or a part of it. @throws {HttpError} 404 when it is not there, 503 when nobody can tell */
  read(object: string, range: ByteRange | undefined, signal: AbortSignal): Promise<Readable>;
  /** A URL that gives the file to everybody for some minutes; `undefined` where there is none. */
  link(object: string, filename: string): Promise<string | undefined>;
  /** Removes a file; one that is not there is removed. @throws {HttpError} 503 */
  remove(object: string): Promise<void>;
  /** Removes what uploads have left whose process was killed. @throws {HttpError} 503 */
  tidy(): Promise<void>;
}
