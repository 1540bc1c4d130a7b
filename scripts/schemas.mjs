// Writes packages/compiler/schemas from the tables of the compiler; --check only says what is stale.
// Run it with: node --conditions=@steps/source scripts/schemas.mjs
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SCHEMA_KINDS, schemaOf } from "../packages/compiler/src/index.ts";

const folder = join(import.meta.dirname, "../packages/compiler/schemas");
const wanted = new Map(SCHEMA_KINDS.map((kind) => [`${kind}.json`, `${JSON.stringify(schemaOf(kind), null, 2)}\n`]));
const found = existsSync(folder) ? readdirSync(folder) : [];
const surplus = found.filter((name) => !wanted.has(name));
const stale = [...wanted].filter(
  ([name, text]) => !found.includes(name) || readFileSync(join(folder, name), "utf8") !== text,
);

if (process.argv.includes("--check")) {
  const names = [...stale.map(([name]) => name), ...surplus];
  if (names.length > 0) {
    console.error(
      `Schemas are stale: ${names.join(", ")}; node --conditions=@steps/source scripts/schemas.mjs writes them`,
    );
    process.exitCode = 1;
  }
} else {
  mkdirSync(folder, { recursive: true });
  for (const name of surplus) rmSync(join(folder, name));
  for (const [name, text] of stale) writeFileSync(join(folder, name), text);
}
