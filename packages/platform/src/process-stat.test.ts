import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { bootId, hasEnded, readProcessStat } from "./process-stat.ts";

describe.skipIf(process.platform !== "linux")("readProcessStat()", () => {
  test("reads behind a name of blanks and parentheses", async () => {
    const script = `printf 'a) Z 1' > /proc/self/task/$$/comm; echo; exec 0<&0; read -r line`;
    const child = spawn("sh", ["-c", script], { detached: true, stdio: ["pipe", "pipe", "ignore"] });
    await once(child.stdout, "data");
    // It may be slower to begin its reading than we are to read its line.
    await expect.poll(() => readProcessStat(child.pid as number)?.state).toBe("S");
    const stat = readProcessStat(child.pid as number);
    expect(stat).toMatchObject({ state: "S", group: child.pid, startTime: expect.stringMatching(/^\d+$/) as string });
    expect(stat !== undefined && hasEnded(stat)).toBe(false);
    child.stdin.end();
    await once(child, "exit");
    expect(readProcessStat(child.pid as number)).toBeUndefined();
  });
});

describe.skipIf(process.platform !== "linux")("bootId()", () => {
  test("is the same at each call", () => {
    expect(bootId()).toMatch(/^[0-9a-f-]{36}$/);
    expect(bootId()).toBe(bootId());
  });
});
