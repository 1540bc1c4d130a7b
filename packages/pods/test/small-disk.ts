import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { onTestFinished } from "vitest";

/** A file system of its own that can be filled. */
export interface SmallDisk {
  readonly fill: () => void;
  /** Gives all of the space back that `fill()` took. */
  readonly free: () => void;
}

function mount(path: string, size: string): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=700`, "steps-test", path]).status === 0;
}

function unmount(path: string): void {
  // Whoever has a file there may be ending; the mount goes with the last of them.
  spawnSync("umount", ["-l", path]);
}

/** Whether this process may mount file systems. Where it may not, that is named at the end of the run. */
export const canMount: boolean = (() => {
  const path = tempDir();
  const mayMount = mount(path, "64k");
  if (mayMount) unmount(path);
  const file = process.env["STEPS_SKIPPED_FILE"];
  if (!mayMount && file !== undefined) appendFileSync(file, "mount\n");
  return mayMount;
})();

/** Puts a file system of so many KiB at a path, until the test ends. */
export function smallDisk(path: string, kib: number): SmallDisk {
  mkdirSync(path, { recursive: true });
  if (!mount(path, `${kib}k`)) throw new Error(`Nothing can be mounted at ${path}`);
  onTestFinished(() => unmount(path));
  const filler = join(path, "filler");
  return {
    fill() {
      const { bavail, bsize } = statfsSync(path);
      writeFileSync(filler, Buffer.alloc(bavail * bsize));
    },
    free: () => rmSync(filler, { force: true }),
  };
}
