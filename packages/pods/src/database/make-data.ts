import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { runBriefly } from "@steps/platform/processes";
import { ownCommand } from "@steps/platform/runtime";

const TIMEOUT_MS = 300_000;
const BEGUN = "begun-";
/** The places of the archive from here: in the package and its sources, and beside a bundle. */
const PLACES = ["../../data/", "./"];
const MAKE = `const { PGlite } = require(process.argv[1]);
PGlite.create({ dataDir: process.argv[2], relaxedDurability: true }).then((made) => made.close());`;
/** The form of the archive is that of scripts/database-archive.mjs. */
const UNPACK = `const { mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const bytes = require("node:zlib").brotliDecompressSync(readFileSync(process.argv[1]));
let at = 4 + bytes.readUInt32LE(0);
mkdirSync(process.argv[2]);
for (const [path, size] of JSON.parse(bytes.toString("utf8", 4, at)))
  if (size === null) mkdirSync(process.argv[2] + "/" + path);
  else writeFileSync(process.argv[2] + "/" + path, bytes.subarray(at, (at += size)));`;

/**
 * Makes the files of an embedded database unless they are there: unpacks those that the build has made or, without them, has PGlite make
 * some. They are whole or not there, whatever is killed. A process of its own does it: the memory that this takes would stay with a
 * process that goes on. Where none can be started, nothing is made, and who opens the database makes it.
 */
export async function makeData(
  folder: string,
  dataDir: string,
  archive: string | undefined = findArchive(),
): Promise<void> {
  if (existsSync(dataDir)) return;
  for (const name of readdirSync(folder)) if (name.startsWith(BEGUN)) remove(join(folder, name));
  const begun = mkdtempSync(join(resolve(folder), BEGUN));
  const made = join(begun, "data");
  const isMade =
    (archive !== undefined && (await run(UNPACK, archive, made))) || (await run(MAKE, pgliteModule(), made));
  if (isMade) renameSync(made, dataDir);
  remove(begun);
}

function pgliteModule(): string {
  return createRequire(import.meta.url).resolve("@electric-sql/pglite");
}

/** The archive for the PGlite that is installed: the files of another version may be of another form. */
export function findArchive(): string | undefined {
  const manifest = join(dirname(pgliteModule()), "../package.json");
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { readonly version: string };
  const at = (place: string): string => fileURLToPath(new URL(`${place}pglite-${version}.br`, import.meta.url));
  return PLACES.map(at).find((path) => existsSync(path));
}

/** Runs a program of ours with two arguments. What it made of a second one before it failed is removed. */
async function run(program: string, from: string, made: string): Promise<boolean> {
  const [node] = ownCommand();
  const args = ["-e", program, from, made];
  const { exitCode } = await runBriefly({ program: node, args, env: {}, timeoutMs: TIMEOUT_MS });
  const isMade = exitCode === 0 && existsSync(join(made, "PG_VERSION"));
  if (!isMade) remove(made);
  return isMade;
}

function remove(path: string): void {
  // The process that wrote there may outlive the one that started it by a moment.
  rmSync(path, { recursive: true, force: true, maxRetries: 10 });
}
