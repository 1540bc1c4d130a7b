import { createHash } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { openTable, readAll, readStamped, scriptJob, unstamp } from "./jobs-support.ts";

test("two hundred jobs at once, each followed by five from offsets of their own, byte for byte", async () => {
  const table = await openTable({ graceMs: 1000 });
  const lines = (n: number, mark: string): string =>
    Array.from({ length: 20 }, (_, line) => `${mark} ${n} ${"x".repeat((n * 7 + line * 13) % 90)}\n`).join("");
  const jobs = Array.from({ length: 200 }, (_, n) => {
    const script = `i=0; while [ $i -lt 2 ]; do printf '%s' '${lines(n, "out")}'; printf '%s' '${lines(n, "err")}' >&2; i=$((i+1)); done`;
    return { n, job: table.run(scriptJob(table.dir, script)) };
  });
  const followed = jobs.map(async ({ n, job }) => {
    const stdout = Buffer.from(lines(n, "out").repeat(2));
    const stderr = Buffer.from(lines(n, "err").repeat(2));
    const offsets = Array.from({ length: 4 }, (_, follower) => ({
      stdout: (n * 131 + follower * 977) % stdout.length,
      stderr: (n * 57 + follower * 1013) % stderr.length,
    }));
    const stamped = readStamped(job);
    const all = await Promise.all(offsets.map((from) => readAll(job, from)));
    for (const [index, from] of offsets.entries()) {
      expect(all[index]).toEqual({ stdout: stdout.subarray(from.stdout), stderr: stderr.subarray(from.stderr) });
    }
    expect(unstamp(await stamped, "01O")).toEqual(stdout);
    expect(unstamp(await stamped, "01E")).toEqual(stderr);
    await job.ended;
    expect(job.info).toMatchObject({ status: "success", stdoutBytes: stdout.length, stderrBytes: stderr.length });
  });
  await Promise.all(followed);
  expect(table.list()).toHaveLength(200);
  await expect.poll(() => openFilesBelow(table.dir)).toEqual([]);
});

/** Files that this process has open. */
function openFilesBelow(dir: string): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(dir) ? [path] : [];
    } catch {
      return [];
    }
  });
}

test("twenty megabytes, taken up again at random offsets while they are written and afterwards", async () => {
  const table = await openTable();
  const total = 20 * 1024 * 1024;
  const script = `head -c ${total} /dev/zero | openssl enc -aes-128-ctr -K 00 -iv 00 2>/dev/null | tee copy; echo end >&2`;
  const job = table.run(scriptJob(table.dir, script));
  const { stdout, stderr } = await readInParts(job, total);
  const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
  expect(stdout).toHaveLength(total);
  expect(stderr.toString()).toBe("end\n");
  await job.ended;
  const again = await readAll(job);
  expect(digest(again.stdout)).toBe(digest(stdout));
  expect(digest(readFileSync(`${table.dir}/work/copy`))).toBe(digest(stdout));

  const stamped = await readStamped(job);
  expect(digest(unstamp(stamped, "01O").subarray(0, total))).toBe(digest(stdout));
  for (let n = 1; n <= 8; n++) {
    const offset = Math.floor((stamped.length * ((n * 0.618) % 1)) / 1);
    expect((await readStamped(job, offset)).equals(stamped.subarray(offset))).toBe(true);
  }
});

/** Leaves off after some pieces, and goes on with a new follower where it was. */
async function readInParts(
  job: Parameters<typeof readAll>[0],
  total: number,
): Promise<{ stdout: Buffer; stderr: Buffer }> {
  const parts: { stdout: Uint8Array[]; stderr: Uint8Array[] } = { stdout: [], stderr: [] };
  const at = { stdout: 0, stderr: 0 };
  for (let round = 1; at.stdout < total || at.stderr === 0; round++) {
    const stop = new AbortController();
    let left = 1 + ((round * 7919) % 40);
    for await (const { stream, bytes, offset } of job.readOutput({ ...at }, stop.signal)) {
      expect(offset).toBe(at[stream]);
      // The connection is cut in the middle of a piece.
      const taken = left === 1 ? bytes.subarray(0, Math.ceil(bytes.length / 3)) : bytes;
      at[stream] += taken.length;
      parts[stream].push(taken);
      left -= 1;
      if (left === 0) break;
    }
    stop.abort();
  }
  return { stdout: Buffer.concat(parts.stdout), stderr: Buffer.concat(parts.stderr) };
}
