import { join } from "node:path";
import { compileCache } from "@steps/testkit";

/** The environment of a program that has everything below a folder: home, temporary files, state, settings and caches. */
export function environmentIn(dir: string): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: join(dir, "home"),
    TMPDIR: join(dir, "tmp"),
    XDG_STATE_HOME: join(dir, "state"),
    XDG_CONFIG_HOME: join(dir, "config"),
    XDG_CACHE_HOME: join(dir, "cache"),
    NO_COLOR: "1",
    ...compileCache(),
  };
}
