// Imports between the folders of a package run one way, those of types alone included. A file beside folders, as those right
// below `src`, stands for itself: it may put folders together, or be used by them, and not both. Tests may import what they test.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*"(\.{1,2}\/[^"]+)"/g;

/**
 * @param {string} file
 * @param {ReadonlySet<string>} parents folders that have folders
 */
const roomOf = (file, parents) => (parents.has(dirname(file)) ? file : `${dirname(file)}/`);

/**
 * @param {string} src
 * @returns {Map<string, Map<string, string>>} by room, the rooms that it imports, each with one file that does
 */
function readImports(src) {
  /** @type {Map<string, Map<string, string>>} */
  const rooms = new Map();
  const names = readdirSync(src, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  const parents = new Set([".", ...files.map((file) => dirname(dirname(file)))]);
  for (const file of files) {
    const from = roomOf(file, parents);
    const imports = rooms.get(from) ?? new Map();
    rooms.set(from, imports);
    for (const [, target = ""] of readFileSync(join(src, file), "utf8").matchAll(IMPORT)) {
      const to = roomOf(normalize(join(dirname(file), target)), parents);
      if (to !== from) imports.set(to, `${file} imports ${target}`);
    }
  }
  return rooms;
}

/**
 * @param {Map<string, Map<string, string>>} rooms
 * @param {string} start
 */
function reachableFrom(rooms, start) {
  const reached = new Set();
  const waiting = [start];
  for (let room = waiting.pop(); room !== undefined; room = waiting.pop()) {
    for (const next of rooms.get(room)?.keys() ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      waiting.push(next);
    }
  }
  return reached;
}

const sources = ["packages", "apps"]
  .flatMap((parent) => readdirSync(parent).map((name) => join(parent, name, "src")))
  .filter((src) => existsSync(src));
for (const src of sources) {
  const rooms = readImports(src);
  for (const room of [...rooms.keys()].filter((name) => name.endsWith("/"))) {
    for (const [next, example] of rooms.get(room) ?? []) {
      if (!reachableFrom(rooms, next).has(room)) continue;
      process.stderr.write(`${src}: ${room} and ${next} import each other, maybe by way of others: ${example}\n`);
      process.exitCode = 1;
    }
  }
}
