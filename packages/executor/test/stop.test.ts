import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { Cancelled } from "../src/index.ts";
import { eventOf, isAlive, run, sh } from "./harness.ts";

const LONG_MS = 600_000;

test("a second cancel ends the grace", async () => {
  const cancel = new AbortController();
  const hurry = new AbortController();
  const ran = await run(sh(`trap 'echo told' TERM; echo ready; while :; do sleep 0.05; done`), {
    graceMs: LONG_MS,
    signal: cancel.signal,
    hurry: hurry.signal,
    hooks: {
      openLog: () => ({
        write: (_stream, chunk) =>
          String(chunk) === "ready\n" ? cancel.abort(new Cancelled("SIGINT")) : hurry.abort(),
        close: () => undefined,
      }),
    },
  });
  expect(ran.outcome).toMatchObject({ status: "cancelled", signal: "SIGINT" });
  expect(eventOf(ran, "step-finished", "")).toMatchObject({ signal: "SIGKILL" });
});

test("a second cancel ends the grace of what an ended leader has left", async () => {
  const cancel = new AbortController();
  const hurry = new AbortController();
  const child = `trap 'echo told' TERM; echo ready; while :; do sleep 0.05; done`;
  const ran = await run(sh(`sh -c "$child" & wait`, { env: { child } }), {
    graceMs: LONG_MS,
    signal: cancel.signal,
    hurry: hurry.signal,
    hooks: {
      openLog: () => ({
        write: (_stream, chunk) => (String(chunk) === "ready\n" ? cancel.abort() : hurry.abort()),
        close: () => undefined,
      }),
    },
  });
  expect(ran.outcome).toMatchObject({ status: "cancelled" });
});

test("who is in a hurry already gives no grace", async () => {
  const cancel = new AbortController();
  const ran = await run(sh(`trap '' TERM; echo ready; while :; do sleep 0.05; done`), {
    graceMs: LONG_MS,
    signal: cancel.signal,
    hurry: AbortSignal.abort(),
    hooks: { openLog: () => ({ write: () => cancel.abort(), close: () => undefined }) },
  });
  expect(eventOf(ran, "step-finished", "")).toMatchObject({ signal: "SIGKILL" });
});

test("a hurry without a cancel ends nothing", async () => {
  const ran = await run(sh("sleep 0.05; echo done"), { graceMs: LONG_MS, hurry: AbortSignal.abort() });
  expect(ran).toMatchObject({ output: "done\n", outcome: { status: "success" } });
});

test("a cancel while the output of an ended process is written signals nobody", async () => {
  const cancel = new AbortController();
  let pid = 0;
  const kill = vi.spyOn(process, "kill");
  const ran = await run(sh("echo last words"), {
    graceMs: 0,
    signal: cancel.signal,
    onEvent: (event) => {
      if (event.type === "process-started") ({ pid } = event);
    },
    hooks: {
      openLog: () => ({
        write: async () => {
          while (isAlive(pid) || existsSync(`/proc/${pid}`)) await sleep(5);
          await sleep(5);
          kill.mockClear();
          cancel.abort(new Cancelled("SIGINT"));
          await sleep(5);
        },
        close: () => undefined,
      }),
    },
  });
  const targets = kill.mock.calls.map(([target]) => target);
  kill.mockRestore();
  expect(ran.outcome).toMatchObject({ status: "cancelled" });
  expect(targets).not.toContain(-pid);
});
