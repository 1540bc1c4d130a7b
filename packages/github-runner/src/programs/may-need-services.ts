import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { OpenedStep } from "@steps/executor/kit";

const NAMES = ["ACTIONS_RUNTIME_", "ACTIONS_CACHE_", "ACTIONS_RESULTS_"];
/** An import from outside of the main file's folder, which is not looked into. */
const FARTHER = /(?:require\(|import\(|from|import)\s*["'`]\.\.\//;
const MAX_SEARCHED_BYTES = 32 * 1024 * 1024;
const MAX_FILES = 100;

// The answers by the identity of the file: most actions are run again and again.
const known = new Map<string, boolean>();
const MAX_KNOWN = 1000;

/**
 * Tells whether a JavaScript action may ask for the cache or the artifacts of GitHub: its bundle, or a part of it beside it,
 * names one of their variables, or the action has modules elsewhere, which nobody looks into.
 */
export function mayNeedServices({ dir, root }: Pick<OpenedStep, "dir" | "root">, file: string | undefined): boolean {
  if (existsSync(join(root ?? dir, "node_modules")) || existsSync(join(dir, "node_modules"))) return true;
  const main = join(dir, file ?? "");
  if (statSync(main, { throwIfNoEntry: false })?.isFile() !== true) return false;
  if (names(main)) return true;
  const folder = dirname(main);
  const parts = readdirSync(folder).filter((name) => /\.[cm]?js$/.test(name));
  return parts.length > MAX_FILES || parts.some((name) => names(join(folder, name)));
}

function names(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile()) return false;
  if (stat.size > MAX_SEARCHED_BYTES) return true;
  const key = `${path}\0${stat.ino}\0${stat.size}\0${stat.mtimeMs}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const text = readFileSync(path, "latin1");
  const found = NAMES.some((name) => text.includes(name)) || FARTHER.test(text);
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(key, found);
  return found;
}
