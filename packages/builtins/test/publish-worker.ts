// Publishes an entry again and again until it is killed: `publish-worker.ts PATH TEXT`. Says so before the first time.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { publishEntry } from "../src/gitlab/store/entry-store.ts";

const [path = "", text = ""] = process.argv.slice(2);
process.stdout.write("ready\n");
for (let round = 0; ; round += 1) {
  const content = `${text} ${round}`;
  await publishEntry(path, {
    keep: ["kept"],
    async write(dir) {
      for (const name of ["a", "b", "c"]) writeFileSync(join(dir, name), content);
      await Promise.resolve();
      return { content };
    },
  });
}
