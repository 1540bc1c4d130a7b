import { existsSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { expect, test } from "vitest";
import type { Sql } from "../database/database.ts";
import { fileTraces } from "./file-traces.ts";

test("an append to the trace of a job that was removed makes no file, which nobody would remove", async () => {
  const folder = join(tempDir(), "traces");
  const noJobs = { query: () => Promise.resolve([]) } as unknown as Sql;
  const traces = fileTraces(folder, noJobs);
  const end = { id: 1, attempt: 1, trace_resets: 0, trace_size: 0, trace_crc: 0 };
  expect(await traces.append({ ...end, bytes: Buffer.from("late"), crc: 1 })).toBeUndefined();
  await traces.close();
  expect(existsSync(folder)).toBe(false);
});
