import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createCache } from "@steps/cache";
import { createGitRepository } from "@steps/testkit";
import { absolute, median, type Row } from "../measure.ts";

const ROUNDS = 50;

/** A pinned component that is in the cache: each round is a new job, and there is no program it could start. */
export async function warmComponent(scratch: string): Promise<Row[]> {
  const dir = join(scratch, "repository");
  mkdirSync(dir);
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`steps/part${i}.sh`, `echo ${i}\n`]));
  const repository = await createGitRepository(dir, {
    "steps/step.yml": "spec: {}\n---\nexec: {command: [echo, hi]}\n",
    ...files,
  });
  const request = { kind: "git", url: `file://${dir}`, version: await repository.revision() } as const;
  const cacheRoot = join(scratch, "cache");
  await using cold = createCache({ root: cacheRoot });
  await cold.resolve(request);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await using cache = createCache({ root: cacheRoot, env: { PATH: "/nonexistent" } });
    const start = performance.now();
    const found = await cache.resolve(request);
    times.push(performance.now() - start);
    if (!found.fetch.isHit) throw new Error("The component was not in the cache");
  }
  return [absolute("warm git component", { measured: median(times), limit: 2, unit: "ms" })];
}
