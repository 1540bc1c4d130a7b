import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { createMasker } from "@steps/trace/mask";
import { expect, test } from "vitest";
import { StepLogFile } from "./step-log-file.ts";

/** The files below a folder that this process has open. */
function openFiles(folder: string): readonly string[] {
  return readdirSync("/proc/self/fd")
    .map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        // The descriptor of the listing itself is closed by now.
        return "";
      }
    })
    .filter((path) => path.startsWith(folder));
}

test("a log whose last bytes are refused leaves no file open", async () => {
  const dir = tempDir();
  const masker = createMasker();
  masker.add("secret-value");
  let isFull = false;
  const onOutput = (): void => {
    if (isFull) throw new Error("ENOSPC: no space left on device, write");
  };
  const log = new StepLogFile(dir, "0/1", { masker, onOutput });
  // The end may be the beginning of the secret, so it is kept back.
  await log.write("stdout", Buffer.from("one\nsecret-"));
  expect(openFiles(dir)).toHaveLength(2);
  isFull = true;
  await expect(log.close()).rejects.toThrow("ENOSPC");
  expect(openFiles(dir)).toEqual([]);
});

test("a log that could not be opened says so, and leaves no file open", async () => {
  const dir = tempDir();
  writeFileSync(join(dir, "0.idx"), "");
  const log = new StepLogFile(dir, "0", { masker: createMasker() });
  expect(() => log.write("stdout", Buffer.from("one\n"))).toThrow("something else is in its place");
  await log.close();
  expect(openFiles(dir)).toEqual([]);
});
