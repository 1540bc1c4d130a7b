import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

/** One case of the corpus, whatever its kind. */
export interface Case {
  /** `topic/file.yml: name`, unique in the corpus. */
  readonly id: string;
  readonly kind: string;
  /** As it was written; what may stand in it depends on the kind. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** The folder of the corpus. */
const corpusDir: string = fileURLToPath(new URL("../../../conformance/", import.meta.url));

/** Every case below `cases/`, in order of its file. @throws {Error} for what is no list of cases */
export function readCases(dir: string = corpusDir): Case[] {
  const root = join(dir, "cases");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".yml"));
  const cases = files.toSorted().flatMap((path) => readFile(path, readFileSync(join(root, path), "utf8")));
  const ids = new Set<string>();
  for (const { id } of cases) {
    if (ids.has(id)) throw new Error(`Two cases have one name: ${id}`);
    ids.add(id);
  }
  return cases;
}

function readFile(path: string, text: string): Case[] {
  const list: unknown = parse(text, { version: "1.2" });
  if (!Array.isArray(list)) throw new Error(`${path} is no list of cases`);
  return list.map((item: unknown, index) => {
    if (!isRecord(item)) throw new Error(`${path}: case ${index + 1} is no mapping`);
    const { name, kind, section, ...data } = item;
    if (typeof name !== "string" || typeof kind !== "string" || typeof section !== "string") {
      throw new Error(`${path}: case ${index + 1} needs the texts name, section and kind`);
    }
    return { id: `${path}: ${name}`, kind, data };
  });
}

/** Cases that are known to fail, with the reason; by id. @throws {Error} for an entry without a reason or a case */
export function readExpectedFailures(cases: readonly Case[], dir: string = corpusDir): ReadonlyMap<string, string> {
  const path = join(dir, "expected-failures.yml");
  const list: unknown = existsSync(path) ? (parse(readFileSync(path, "utf8")) ?? []) : [];
  if (!Array.isArray(list)) throw new Error("expected-failures.yml is no list");
  const known = new Set(cases.map(({ id }) => id));
  return new Map(
    list.map((item: unknown) => {
      const { case: id, reason } = isRecord(item) ? item : {};
      if (typeof id !== "string" || typeof reason !== "string" || reason === "") {
        throw new Error("expected-failures.yml: an entry needs the texts case and reason");
      }
      if (!known.has(id)) throw new Error(`expected-failures.yml names no case: ${id}`);
      return [id, reason];
    }),
  );
}

/** Refuses members that a kind does not know: a misspelt expectation would never fail. @throws {Error} */
export function checkKeys(record: Readonly<Record<string, unknown>>, known: readonly string[], what: string): void {
  const unknown = Object.keys(record).filter((key) => !known.includes(key));
  if (unknown.length > 0) throw new Error(`${what} does not know ${unknown.join(", ")}; it knows ${known.join(", ")}`);
}

/** Whether a value is an object with members. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
