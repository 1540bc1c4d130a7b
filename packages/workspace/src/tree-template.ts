import {
  closeSync,
  constants,
  fchmodSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { copyFile, utimes } from "node:fs/promises";
import { join } from "node:path";
import { Slices } from "./slices.ts";

/** A larger file is copied on another thread, which shares its blocks where the file system can. */
const SMALL_BYTES = 64 * 1024;
/** The contents of small files that are kept in memory, all together. */
const KEPT_BYTES = 4 * 1024 * 1024;
/** As many as Node has threads for. */
const AT_ONCE = 4;

interface TemplateFile {
  /** Relative to the folder, as all paths here. */
  readonly path: string;
  readonly mode: number;
  readonly atime: Date;
  readonly mtime: Date;
  content?: Uint8Array;
}

/** A folder that nobody changes any more, and of which many copies are made. */
export class TreeTemplate {
  readonly #root: string;
  /** Each after the one that holds it. */
  readonly #folders: string[] = [""];
  readonly #small: TemplateFile[] = [];
  readonly #large: TemplateFile[] = [];
  readonly #links: { readonly path: string; readonly to: string }[] = [];
  #keptBytes = 0;
  #bytes = 0;

  private constructor(root: string) {
    this.#root = root;
  }

  /** Finds out what there is below a folder. */
  static async read(root: string, signal: AbortSignal): Promise<TreeTemplate> {
    const template = new TreeTemplate(root);
    const slices = new Slices(signal);
    // The list grows while it is walked.
    for (const folder of template.#folders) {
      template.#readFolder(folder);
      await slices.next();
    }
    return template;
  }

  /** The number of files, links and folders. */
  get count(): number {
    return this.#folders.length + this.#small.length + this.#large.length + this.#links.length;
  }

  /** The size of all files. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param to a path where nothing is yet */
  async copyTo(to: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const slices = new Slices(signal);
    for (const path of this.#folders) {
      mkdirSync(join(to, path));
      await slices.next();
    }
    for (const link of this.#links) symlinkSync(link.to, join(to, link.path));
    for (const file of this.#small) {
      this.#copySmall(file, join(to, file.path));
      await slices.next();
    }
    if (this.#large.length > 0) await this.#copyLarge(to, signal);
  }

  #readFolder(folder: string): void {
    for (const entry of readdirSync(join(this.#root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) this.#folders.push(path);
      else if (entry.isSymbolicLink()) this.#links.push({ path, to: readlinkSync(join(this.#root, path)) });
      else {
        const { mode, atime, mtime, size } = lstatSync(join(this.#root, path));
        this.#bytes += size;
        (size > SMALL_BYTES ? this.#large : this.#small).push({ path, mode: mode & 0o7777, atime, mtime });
      }
    }
  }

  #copySmall(file: TemplateFile, to: string): void {
    const content = file.content ?? this.#keep(file, readFileSync(join(this.#root, file.path)));
    const fd = openSync(to, "wx", file.mode);
    try {
      for (let at = 0; at < content.length;) at += writeSync(fd, content, at);
      // Whatever the umask.
      fchmodSync(fd, file.mode);
      futimesSync(fd, file.atime, file.mtime);
    } finally {
      closeSync(fd);
    }
  }

  #keep(file: TemplateFile, content: Uint8Array): Uint8Array {
    if (this.#keptBytes + content.length > KEPT_BYTES) return content;
    this.#keptBytes += content.length;
    file.content = content;
    return content;
  }

  // When one cannot be copied the others are not begun; all that were have ended then.
  async #copyLarge(to: string, signal: AbortSignal): Promise<void> {
    const queue = this.#large.values();
    const failures: unknown[] = [];
    const work = async (): Promise<void> => {
      for (const { path, atime, mtime } of queue) {
        if (signal.aborted || failures.length > 0) return;
        await copyFile(join(this.#root, path), join(to, path), constants.COPYFILE_FICLONE);
        await utimes(join(to, path), atime, mtime);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, () => work().catch((error: unknown) => failures.push(error))));
    signal.throwIfAborted();
    if (failures.length > 0) throw failures[0];
  }
}
