import { readFileSync } from "node:fs";
import { tempDir } from "@steps/testkit";
import { onTestFinished } from "vitest";
import type { JobHandle, JobTable } from "../src/index.ts";
import { type JobTableOptions, openJobTable } from "../src/jobs/open-job-table.ts";
import { never, tableOptions } from "./job-fixtures.ts";

export { never, scriptJob, stepsJob, tableOptions } from "./job-fixtures.ts";

/** Whether a process runs; one that ended and waits to be buried does not. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/** A table in a folder of its own, closed when the test ends. */
export async function openTable(options: Partial<JobTableOptions> = {}): Promise<JobTable & { readonly dir: string }> {
  const dir = tempDir();
  const table = await openJobTable({ ...tableOptions(dir), ...options });
  onTestFinished(() => table[Symbol.asyncDispose]());
  return Object.assign(table, { dir });
}

/** Everything from the offsets on, until the job has ended; pieces are checked against the offsets they name. */
export async function readAll(
  job: JobHandle,
  from: { readonly stdout?: number; readonly stderr?: number } = {},
): Promise<{ readonly stdout: Buffer; readonly stderr: Buffer }> {
  const parts: { stdout: Uint8Array[]; stderr: Uint8Array[] } = { stdout: [], stderr: [] };
  const next = { stdout: from.stdout ?? 0, stderr: from.stderr ?? 0 };
  for await (const { stream, bytes, offset } of job.readOutput({ ...next }, never)) {
    if (offset !== next[stream]) throw new Error(`${stream} at ${offset} instead of ${next[stream]}`);
    if (bytes.length === 0 || bytes.length > 65_536) throw new Error(`piece of ${bytes.length} bytes`);
    next[stream] += bytes.length;
    parts[stream].push(bytes);
  }
  return { stdout: Buffer.concat(parts.stdout), stderr: Buffer.concat(parts.stderr) };
}

export async function readStamped(job: JobHandle, offset = 0): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const bytes of job.readStamped(offset, never)) {
    if (bytes.length === 0 || bytes.length > 65_536) throw new Error(`piece of ${bytes.length} bytes`);
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}

/** Extracts one stream from a stamped log: without headers and added line feeds, its pieces joined. */
export function unstamp(stamped: Buffer, tag: string): Buffer {
  const parts: Buffer[] = [];
  let isOpen = false;
  for (let at = 0; at < stamped.length;) {
    const end = stamped.indexOf(10, at);
    const header = stamped.toString("latin1", at, at + 32);
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z 0[01][OE][ +]$/.test(header)) throw new Error(`header "${header}"`);
    if (header.slice(28, 31) === tag) {
      if (isOpen && header[31] === " ") parts.push(Buffer.from("\n"));
      parts.push(stamped.subarray(at + 32, end));
      isOpen = true;
    }
    at = end + 1;
  }
  if (isOpen) parts.push(Buffer.from("\n"));
  return Buffer.concat(parts);
}

/** The first piece that a job's processes print. */
export async function firstOutput(job: JobHandle): Promise<string> {
  for await (const { bytes } of job.readOutput({ stdout: 0, stderr: 0 }, never)) return Buffer.from(bytes).toString();
  return "";
}

/** The code of what a call throws. */
export function codeOf(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return undefined;
}
