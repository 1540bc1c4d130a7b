import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { takeTurn } from "./take-turn.ts";

const { signal } = new AbortController();

describe("takeTurn()", () => {
  test("gives one caller the turn at a time, and everybody gets it", async () => {
    const folder = join(tempDir(), "turns");
    let inside = 0;
    const most: number[] = [];
    await Promise.all(
      Array.from({ length: 12 }, async () => {
        const leave = await takeTurn(folder, { signal });
        inside++;
        most.push(inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside--;
        await leave();
      }),
    );
    expect(most).toEqual(Array.from({ length: 12 }, () => 1));
    expect(readdirSync(folder)).toEqual([]);
  });

  test("says once that it waits, and leaves no ticket when it gives up", async () => {
    const folder = join(tempDir(), "turns");
    const leave = await takeTurn(folder, { signal });
    const cancel = new AbortController();
    let waits = 0;
    const waiting = takeTurn(folder, {
      signal: cancel.signal,
      onWait: () => {
        waits++;
        cancel.abort(new Error("enough"));
      },
    });
    await expect(waiting).rejects.toThrow("enough");
    expect(waits).toBe(1);
    expect(readdirSync(folder).length).toBe(1);
    await leave();
  });

  test("does not wait for a process that was killed during its turn", async () => {
    const folder = join(tempDir(), "turns");
    const code = `import(${JSON.stringify(join(import.meta.dirname, "take-turn.ts"))})
      .then(({ takeTurn }) => takeTurn(${JSON.stringify(folder)}, { signal: new AbortController().signal }))
      .then(() => { console.log("taken"); setInterval(() => {}, 1000); });`;
    const child = spawn(process.execPath, ["--conditions=steps-source", "-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    let waits = 0;
    const taking = takeTurn(folder, {
      signal,
      onWait: () => {
        waits++;
        child.kill("SIGKILL");
      },
    });
    const leave = await taking;
    expect(waits).toBe(1);
    await leave();
    expect(readdirSync(folder)).toEqual([]);
  });
});
