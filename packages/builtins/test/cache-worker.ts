// Saves a cache whose files all have one text, again and again until it is killed: `cache-worker.ts STORE TEXT [PARENT]`. Prints a line when it is ready, and after each time.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { saveCaches } from "../src/gitlab/cache/cache-save.ts";

const [store = "", text = "", parent = tmpdir()] = process.argv.slice(2);
const workDir = mkdtempSync(join(parent, "project-"));
mkdirSync(join(workDir, "dir"));
process.stdout.write("ready\n");
for (let round = 0; ; round += 1) {
  for (let index = 0; index < 20; index += 1)
    writeFileSync(join(workDir, `dir/${index}`), `${text} ${round}`.repeat(1000));
  const caches = [{ key: "k", paths: ["dir"] }];
  await saveCaches({ cache_dir: store, caches, compression_level: "fast" }, { env: process.env, workDir, log() {} });
  process.stdout.write("saved\n");
}
