import { JobLog, EMPTY_LOG } from "../src/jobs/job-log.ts";
import { readOutput } from "../src/jobs/read-output.ts";
import { StampedLog } from "../src/jobs/read-stamped.ts";
import { mkdtempSync, openSync, writeSync, closeSync, rmSync } from "node:fs";
import { join } from "node:path";
const cpu = () => { const u = process.cpuUsage(); return (u.user + u.system) / 1000; };
const never = new AbortController().signal;
const MiB = 1048576;
for (const [recordBytes, lineBytes] of [
  [65536, 80],
  [200, 200],
  [65536, 65536 * 4],
  [8192, 30],
] as const) {
  const dir = mkdtempSync("/dev/shm/bench-");
  const total = 256 * MiB;
  const chunk = Buffer.alloc(recordBytes, "x".repeat(lineBytes - 1) + "\n");
  const fd = openSync(join(dir, "a.log"), "w");
  const log = new JobLog(dir, EMPTY_LOG, { isEnded: false });
  let t = cpu();
  let n = 0;
  for (let at = 0; at + recordBytes <= total; at += recordBytes) {
    writeSync(fd, chunk);
  }
  const wt = cpu() - t;
  t = cpu();
  for (let at = 0; at + recordBytes <= total; at += recordBytes) {
    log.append({ timeUs: 1.79e15 + n++, path: "a.log", offset: at, bytes: recordBytes, stream: "stdout" });
  }
  log.end();
  closeSync(fd);
  const it = cpu() - t;
  for (let round = 0; round < 2; round++) {
    t = cpu();
    let bytes = 0,
      pieces = 0;
    for await (const p of readOutput(log, { stdout: 0, stderr: 0 }, never)) {
      bytes += p.bytes.length;
      pieces++;
    }
    const rt = cpu() - t;
    t = cpu();
    let sb = 0;
    const stamped = new StampedLog(log);
    for await (const p of stamped.read(0, never)) sb += p.length;
    const st = cpu() - t;
    t = cpu();
    let first = 0;
    for await (const p of stamped.read(sb - 1000, never)) first += p.length;
    const resume = cpu() - t;
    if (round)
      console.log({
        recordBytes,
        lineBytes,
        writeMBs: (total / wt / 1000) | 0,
        indexUsPerRecord: +((it * 1000) / n).toFixed(2),
        readMBs: (bytes / rt / 1000) | 0,
        pieces,
        stampMBsInput: (total / st / 1000) | 0,
        resumeMs: +resume.toFixed(1),
      });
  }
  rmSync(dir, { recursive: true });
}
