// Makes the archive of an empty embedded database, which a pod unpacks where it starts for the first time: making one takes seven seconds
// of a processor, unpacking it half a second. node scripts/database-archive.mjs [FILE]; the file without one is packages/pods/data/….
// The same PGlite gives the same bytes, because the clock stands still and random numbers are none while it is made. An identifier of
// the system and a nonce come of them, by which PostgreSQL tells servers apart that copy each other or ask for passwords; this one
// does neither.
import nodeCrypto from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const self = fileURLToPath(import.meta.url);
const pods = join(dirname(dirname(self)), "packages", "pods");
const EPOCH = Date.UTC(2026, 0, 1);

/** The path of PGlite's module. */
export function pgliteModule() {
  return createRequire(join(pods, "package.json")).resolve("@electric-sql/pglite");
}

/** The path of the archive. Its name has the version of PGlite, which nothing else fits. */
export function archivePath() {
  const manifest = join(dirname(pgliteModule()), "..", "package.json");
  return join(pods, "data", `pglite-${JSON.parse(readFileSync(manifest, "utf8")).version}.br`);
}

/** Puts the archive beside the bundle of the command. */
export function archivePlugin() {
  return {
    name: "database-archive",
    generateBundle() {
      const path = archivePath();
      this.emitFile({ type: "asset", fileName: basename(path), source: readFileSync(path) });
    },
  };
}

async function makeArchive(file) {
  const scratch = mkdtempSync(join(tmpdir(), "steps-database-"));
  try {
    const data = join(scratch, "data");
    await makeDatabase(data);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.new`, compress(pack(data)));
    renameSync(`${file}.new`, file);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function makeDatabase(dataDir) {
  Date.now = () => EPOCH;
  performance.now = () => 0;
  nodeCrypto.randomFillSync = (bytes) => bytes.fill(1);
  const { PGlite } = createRequire(self)(pgliteModule());
  const database = await PGlite.create({ dataDir, relaxedDurability: true });
  await database.close();
}

/** Like code.bin: the length of what follows in four bytes, a list of [path, size] in JSON with null for a folder, then all the bytes. */
function pack(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => ({ entry, path: relative(folder, join(entry.parentPath, entry.name)) }))
    .toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  const parts = entries.map(({ entry, path }) => (entry.isDirectory() ? undefined : readFileSync(join(folder, path))));
  const list = Buffer.from(JSON.stringify(entries.map(({ path }, i) => [path, parts[i]?.length ?? null])));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(list.length);
  return Buffer.concat([length, list, ...parts.filter((part) => part !== undefined)]);
}

// Folders come before what is in them. The tables of the system are there three times, with one name each: side by side, they take the
// place of one.
function orderOf({ entry, path }) {
  return entry.isDirectory() ? `0 ${path}` : `1 ${entry.name} ${path}`;
}

function compress(bytes) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 };
  return brotliCompressSync(bytes, { params });
}

if (process.argv[1] === self) await makeArchive(process.argv[2] ?? archivePath());
