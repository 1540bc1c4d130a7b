import { spawn } from "node:child_process";
import { once } from "node:events";
import type * as FileSystem from "node:fs";
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { currentMoment } from "./proc.ts";
import { COOKIE_VARIABLE, killSurvivors } from "./terminate.ts";

vi.mock("node:fs", { spy: true });

/** A process of its own group that has the cookie, and ends with the test. */
async function startMarked(cookie: string): Promise<{ readonly pid: number; readonly ended: Promise<unknown> }> {
  const child = spawn("sleep", ["60"], { env: { ...process.env, [COOKIE_VARIABLE]: cookie }, detached: true });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit");
  await once(child, "spawn");
  return { pid: child.pid as number, ended };
}

/** Shows no environment of a process the next `count` times, as the system does while it becomes another program. */
async function hide(pid: number, count: number): Promise<{ readonly looks: () => number }> {
  let looks = 0;
  const { readFileSync: real } = await vi.importActual<typeof FileSystem>("node:fs");
  vi.mocked(readFileSync).mockImplementation(((path: string, ...rest: []) =>
    path === `/proc/${pid}/environ` && looks++ < count ? "" : real(path, ...rest)) as typeof readFileSync);
  onTestFinished(() => void vi.mocked(readFileSync).mockReset());
  return { looks: () => looks };
}

test.skipIf(process.platform !== "linux")(
  "a process is found that becomes another program while it is looked for",
  async () => {
    const cookie = "f".repeat(32);
    const since = currentMoment();
    const { pid, ended } = await startMarked(cookie);
    const hidden = await hide(pid, 2);
    expect(await killSurvivors(cookie, 0, { since })).toBe(1);
    expect(hidden.looks()).toBeGreaterThan(2);
    expect(await ended).toEqual([null, "SIGKILL"]);
  },
);

test.skipIf(process.platform !== "linux")(
  "a process that never shows an environment is waited for a moment, not for ever",
  async () => {
    const cookie = "e".repeat(32);
    const since = currentMoment();
    const { pid } = await startMarked(cookie);
    await hide(pid, Infinity);
    expect(await killSurvivors(cookie, 0, { since })).toBe(0);
  },
);
