import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { readElf } from "@steps/containers/own-program";
import { hasProgram, tempDir } from "@steps/testkit";

/** The path of a busybox of this machine that needs no libraries; `undefined` if there is none. */
export function findBusybox(): string | undefined {
  if (!hasProgram("busybox")) return undefined;
  const { stdout } = spawnSync("sh", ["-c", "command -v busybox"], { encoding: "utf8" });
  const path = stdout.trim() === "" ? undefined : realpathSync(stdout.trim());
  return path !== undefined && readElf(path)?.interpreter === undefined ? path : undefined;
}

/** A root for an image with a static busybox and nothing else. */
export function busyboxRoot(busybox: string, applets: readonly string[]): string {
  const root = tempDir();
  chmodSync(root, 0o755);
  for (const dir of ["bin", "tmp", "etc"]) mkdirSync(join(root, dir));
  chmodSync(join(root, "tmp"), 0o1777);
  copyFileSync(busybox, join(root, "bin/busybox"));
  for (const name of ["sh", ...applets]) symlinkSync("busybox", join(root, "bin", name));
  return root;
}
