import { chmodSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { privateDirectory, userDirectories } from "./directories.ts";

describe("userDirectories()", () => {
  test.each<[Record<string, string>, string, string]>([
    [{ HOME: "/h" }, "/h/.cache/step-runner/v1", "/h/.local/state/step-runner/v1"],
    [{ HOME: "/h", XDG_CACHE_HOME: "/c", XDG_STATE_HOME: "/s" }, "/c/step-runner/v1", "/s/step-runner/v1"],
    [
      { HOME: "/h", XDG_CACHE_HOME: "c", XDG_STATE_HOME: "" },
      "/h/.cache/step-runner/v1",
      "/h/.local/state/step-runner/v1",
    ],
    [
      { HOME: "/h", XDG_CACHE_HOME: "/c", STEP_RUNNER_CACHE_DIR: "/own", STEP_RUNNER_STATE_DIR: "/mine" },
      "/own",
      "/mine",
    ],
  ])("of %j", (env, cache, state) => {
    expect(userDirectories(env)).toEqual({ cache, state });
  });
});

describe("privateDirectory()", () => {
  test("makes it for its owner alone, and leaves the mode of one that was there", () => {
    const path = join(tempDir(), "a/b");
    expect(privateDirectory(path)).toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    chmodSync(path, 0o755);
    privateDirectory(path);
    expect(statSync(path).mode & 0o777).toBe(0o755);
  });

  test.each([0o770, 0o702, 0o777])("refuses one of mode %o, with a hint", (mode) => {
    const path = join(tempDir(), "shared");
    mkdirSync(path);
    chmodSync(path, mode);
    expect(() => privateDirectory(path)).toThrow("others may write to it");
    expect(statSync(path).mode & 0o777).toBe(mode);
  });
});
