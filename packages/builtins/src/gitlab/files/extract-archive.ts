import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  futimesSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, statfs } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { TransferError } from "@steps/transfer";
import { decodeUtf8, readZip, unsafe, type ZipContents, type ZipMember } from "@steps/transfer/archive";
import { JOB_LIMITS, JOB_RULES } from "./job-files.ts";

/** The folder in which an archive is unpacked, and the times of its files. */
export interface ExtractOptions {
  /** The root of the project: absolute. What is there is overwritten; what the archive does not have stays. */
  readonly root: string;
  /** The time of change that all files get; without it, each gets the one that the archive has for it. */
  readonly modifiedAt?: Date;
}

const MAX_TARGET_BYTES = 4095;
const BUFFER_BYTES = 512 * 1024;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/**
 * Unpacks an archive of a job's files into the project. It is looked through first, so that nothing of a hostile one is
 * written; nothing is written through a link that leads out of the project. Gives the number of entries.
 *
 * @throws {TransferError} ARCHIVE_INVALID, ARCHIVE_TOO_LARGE, UNSAFE_ENTRY @throws {Error} of the system
 */
export async function extractArchive(archive: FileHandle, options: ExtractOptions): Promise<number> {
  const root = realpathSync(options.root);
  return await readZip(archive, { limits: JOB_LIMITS, rules: JOB_RULES }, async (contents) => {
    await checkSize(contents, root, (await archive.stat()).size);
    await readLinks(contents);
    await new Extraction(root, options.modifiedAt).write(contents);
    return contents.members.length;
  });
}

async function checkSize({ members }: ZipContents, root: string, archiveBytes: number): Promise<void> {
  const bytes = members.reduce((sum, { size }) => sum + size, 0);
  const allowed = Math.max(JOB_LIMITS.ratioFloorBytes, archiveBytes * JOB_LIMITS.maxRatio);
  const refuse = (limit: string): TransferError =>
    new TransferError(
      "ARCHIVE_TOO_LARGE",
      `Cannot unpack archive: its ${archiveBytes} bytes become ${bytes}, ${limit}`,
    );
  if (bytes > allowed) throw refuse(`more than the ${allowed} that such an archive may have`);
  const { bavail, bsize } = await statfs(root);
  if (bytes > bavail * bsize) throw refuse(`and the disk has room for ${bavail * bsize}`);
}

async function readLinks({ plan, members }: ZipContents): Promise<void> {
  for (const { node, size, content } of members) {
    if (node.type !== "link") continue;
    if (size > MAX_TARGET_BYTES) throw unsafe(node.path, "is a link to a name that is too long", "archive");
    const chunks: Uint8Array[] = [];
    for await (const chunk of content()) chunks.push(Buffer.from(chunk));
    node.target = decodeUtf8(Buffer.concat(chunks));
    if (node.target === undefined) throw unsafe(node.path, "is a link to a name that is not UTF-8", "archive");
  }
  plan.checkLinks();
}

class Extraction {
  readonly #root: string;
  readonly #modifiedAt: Date | undefined;
  /** Folders of the project that are there, and in it. */
  readonly #folders = new Set<string>([""]);

  constructor(root: string, modifiedAt: Date | undefined) {
    this.#root = root;
    this.#modifiedAt = modifiedAt;
  }

  async write({ members }: ZipContents): Promise<void> {
    for (const member of members) if (member.node.type === "dir") this.#openFolder(member.node.path);
    for (const member of members) if (member.node.type === "file") await this.#writeFile(member);
    for (const member of members) if (member.node.type === "link") this.#writeLink(member);
    // A folder that nobody may write to gets its mode after its entries.
    for (const { node, mode } of members.toReversed()) {
      if (node.type === "dir" && mode !== 0) chmodSync(join(this.#root, node.path), (mode & 0o777) | 0o700);
    }
  }

  /** Makes a folder, and those above it. A link in its way is followed if it stays in the project. */
  #openFolder(path: string): void {
    if (this.#folders.has(path)) return;
    this.#openFolder(parentOf(path));
    const full = join(this.#root, path);
    const stats = lstatSync(full, { throwIfNoEntry: false });
    if (stats === undefined) mkdirSync(full);
    else if (stats.isSymbolicLink()) this.#checkLink(path);
    else if (!stats.isDirectory()) throw unsafe(path, "is a folder, and the project has a file there", "archive");
    else if ((stats.mode & 0o300) !== 0o300) chmodSync(full, (stats.mode & 0o7777) | 0o700);
    this.#folders.add(path);
  }

  #checkLink(path: string): void {
    const inside = relative(this.#root, realpathSync(join(this.#root, path)));
    if (inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)) return;
    throw unsafe(path, "is a folder, and the project has a link there that leads out of it", "archive");
  }

  /** Makes a place for a file or link: what is there goes, unless it is a folder. */
  #clear(path: string): string {
    this.#openFolder(parentOf(path));
    const full = join(this.#root, path);
    if (lstatSync(full, { throwIfNoEntry: false })?.isDirectory() === true)
      throw unsafe(path, "is a file, and the project has a folder there", "archive");
    rmSync(full, { force: true });
    return full;
  }

  // In this process nothing else waits, and waiting for the thread pool would take longer than writing a small file.
  async #writeFile({ node, mode, modifiedAt, content }: ZipMember): Promise<void> {
    const full = this.#clear(node.path);
    const file = openSync(full, CREATE, 0o600);
    try {
      let pending: Uint8Array[] = [];
      let bytes = 0;
      const flush = (): void => {
        if (pending.length > 0) writeFileSync(file, Buffer.concat(pending));
        [pending, bytes] = [[], 0];
      };
      for await (const chunk of content()) {
        pending.push(chunk);
        bytes += chunk.byteLength;
        if (bytes >= BUFFER_BYTES) flush();
      }
      flush();
      fchmodSync(file, mode === 0 ? 0o644 : (mode & 0o777) | 0o400);
      const time = this.#modifiedAt ?? modifiedAt;
      futimesSync(file, time, time);
    } finally {
      closeSync(file);
    }
  }

  #writeLink({ node, modifiedAt }: ZipMember): void {
    const full = this.#clear(node.path);
    symlinkSync(node.target as string, full);
    const time = this.#modifiedAt ?? modifiedAt;
    lutimesSync(full, time, time);
  }
}

function parentOf(path: string): string {
  const parent = dirname(path);
  return parent === "." ? "" : parent;
}
