import { mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useTemporaryState } from "./temporary-state.ts";

type Environment = Record<string, string | undefined>;
const uid = process.getuid?.();

let tmp = "";
beforeEach(() => {
  tmp = tempDir();
  vi.stubEnv("TMPDIR", tmp);
  expect(tmpdir()).toBe(tmp);
});
afterEach(() => void vi.unstubAllEnvs());

function used(env: Environment): Environment {
  const result = { ...env };
  useTemporaryState(result);
  return result;
}

test("a home that can be written to is left alone", () => {
  const home = tempDir();
  expect(used({ HOME: home })).toEqual({ HOME: home });
  expect(readdirSync(tmp)).not.toContain(`step-runner-${uid}`);
});

test.each([[undefined], [""], ["relative"], ["/dev/null"], ["/dev/null/x"]])("the home %s is not one", (home) => {
  const own = join(tmp, `step-runner-${uid}`);
  expect(used({ HOME: home })).toEqual({
    HOME: home,
    STEP_RUNNER_STATE_DIR: own,
    STEP_RUNNER_CACHE_DIR: join(own, "cache"),
  });
  expect(statSync(own).mode & 0o7777).toBe(0o700);
  // The second time it is there.
  expect(used({ HOME: home })["STEP_RUNNER_STATE_DIR"]).toBe(own);
});

test("places that are named are kept", () => {
  const own = join(tmp, `step-runner-${uid}`);
  expect(used({ XDG_STATE_HOME: "/s" })).toEqual({ XDG_STATE_HOME: "/s", STEP_RUNNER_CACHE_DIR: join(own, "cache") });
  expect(used({ STEP_RUNNER_CACHE_DIR: "/c" })).toEqual({ STEP_RUNNER_CACHE_DIR: "/c", STEP_RUNNER_STATE_DIR: own });
  const both = { STEP_RUNNER_CACHE_DIR: "/c", STEP_RUNNER_STATE_DIR: "/s" };
  expect(used(both)).toEqual(both);
});

test("a folder that others may write to, or a link, is not used", () => {
  const own = join(tmp, `step-runner-${uid}`);
  symlinkSync(tempDir(), own);
  expect(used({})).toEqual({});
  const umask = process.umask(0);
  try {
    vi.stubEnv("TMPDIR", tempDir());
    mkdirSync(join(tmpdir(), `step-runner-${uid}`), { mode: 0o777 });
    expect(used({})).toEqual({});
  } finally {
    process.umask(umask);
  }
});

test("without temporary files nothing changes", () => {
  vi.stubEnv("TMPDIR", "/proc/no/such");
  expect(used({})).toEqual({});
});
