import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  chmodSync,
  realpathSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { sha256 } from "@steps/platform";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Cancelled, killSurvivors } from "../src/index.ts";
import { baseEnv, call, eventOf, exec, freshCookie, isAlive, item, run, sequence, sh, statuses } from "./harness.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "executor-process-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** The pid that a step wrote into a file; a reaped or zombie process counts as gone. */
function isRunning(file: string): boolean {
  const pid = Number(readFileSync(join(dir, file), "utf8"));
  if (!isAlive(pid)) return false;
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2)[0] !== "Z";
}

/** An abort that comes when the step prints for the first time: what the test sets up is there by then. */
function abortOnOutput(reason: unknown) {
  const controller = new AbortController();
  const write = () => controller.abort(reason);
  return { signal: controller.signal, hooks: { openLog: () => ({ write, close: () => undefined }) } };
}

describe("standard streams", () => {
  test("are pipes that a process can open again", async () => {
    const ran = await run(
      sh("echo one > /dev/stderr; echo two > /dev/stdout; echo three | tee /dev/stderr > /dev/null"),
    );
    expect(ran.outcome.status).toBe("success");
    expect(ran.output.split("\n").toSorted()).toEqual(["", "one", "three", "two"]);
  });

  test("give nothing to read", async () => {
    expect((await run(sh("cat; echo end"))).output).toBe("end\n");
  });

  test("carry 10 MB to a slow log, in order and complete", async () => {
    let bytes = 0;
    let most = 0;
    let isBusy = false;
    const ran = await run(sh("head -c 10000000 /dev/zero; printf x; exit 0"), {
      hooks: {
        openLog: () => ({
          write: async (_stream, chunk) => {
            if (isBusy) throw new Error("written before the last one was done");
            isBusy = true;
            await sleep(1);
            isBusy = false;
            bytes += chunk.byteLength;
            most = Math.max(most, chunk.byteLength);
          },
          close: () => undefined,
        }),
      },
    });
    expect(ran.outcome).toEqual({ status: "success" });
    expect(bytes).toBe(10_000_001);
    expect(most).toBeLessThanOrEqual(1024 * 1024);
  });

  test("may be closed by the process long before it ends", async () => {
    const ran = await run(sh("echo first; exec 1>&- 2>&-; sleep 0.2; exit 4"));
    expect(ran).toMatchObject({ output: "first\n", outcome: { exitCode: 4 } });
  });

  test("of one step do not reach the log of the next", async () => {
    const logs: string[] = [];
    await run(sequence([item(sh("echo a")), item(sh("echo b >&2")), item(sh("echo c"))]), {
      hooks: {
        openLog: (path) => ({
          write: (stream, chunk) => {
            logs.push(`${path} ${stream} ${String(chunk)}`);
          },
          close: () => undefined,
        }),
      },
    });
    expect(logs).toEqual(["0 stdout a\n", "1 stderr b\n", "2 stdout c\n"]);
  });

  test("of a log that fails end the process and the step", async () => {
    const ran = await run(sh("echo x; exec sleep 60"), {
      hooks: { openLog: () => ({ write: () => Promise.reject(new Error("no space")), close: () => undefined }) },
    });
    expect(ran.outcome).toMatchObject({ status: "error", error: { code: "LOG_FAILED" } });
  });
});

describe("processes left behind", () => {
  test("in the group end with the step, with or without its pipes", async () => {
    const ran = await run(
      sequence([
        item(sh(`sleep 60 & echo $! > ${dir}/holder; sleep 60 > /dev/null 2>&1 & echo $! > ${dir}/quiet; echo done`)),
        item(sh("echo next")),
      ]),
    );
    expect(ran.output).toBe("done\nnext\n");
    expect(ran.outcome.status).toBe("success");
    expect([isRunning("holder"), isRunning("quiet")]).toEqual([false, false]);
  });

  test("in the group that ignore TERM are killed", async () => {
    const ran = await run(sh(`(trap '' TERM; echo ready; sleep 60; sleep 60) & echo $! > ${dir}/pid; sleep 0.2`), {
      graceMs: 100,
    });
    expect(ran.outcome.status).toBe("success");
    expect(isRunning("pid")).toBe(false);
  });

  test("outside of the group end with the step, with or without its pipes, and with an environment of their own if they hold them", async () => {
    const escape = (name: string, rest: string) =>
      sh(
        `${rest} setsid sh -c 'echo $$ > ${dir}/${name}; exec sleep 60' ${name === "quiet" ? "> /dev/null 2>&1" : ""} &
        while ! [ -s ${dir}/${name} ]; do :; done`,
      );
    const ran = await run(
      sequence([
        item(escape("quiet", "")),
        item(escape("holder", "")),
        item(escape("cleared", "env -i")),
        item(
          sh(`for name in quiet holder cleared; do
            if grep -qs '^State:.[^ZX]' /proc/$(cat ${dir}/$name)/status; then echo alive; else echo gone; fi
          done`),
        ),
      ]),
    );
    expect(ran.output).toBe("gone\ngone\ngone\n");
  });

  test("of a run inside a step end with their own step, and nothing else of the outer step does", async () => {
    const inner = `setsid sh -c 'echo $$ > ${dir}/inner; exec sleep 60' > /dev/null 2>&1 & while ! [ -s ${dir}/inner ]; do :; done`;
    const state = (name: string) => `grep -qs '^State:.[^ZX]' /proc/$(cat ${dir}/${name})/status && echo ${name}`;
    const ran = await run(
      exec(
        [
          "sh",
          "-c",
          `setsid sleep 60 > /dev/null 2>&1 & echo $! > ${dir}/outer; "$@"; ${state("outer")}; ${state("inner")}; exit 0`,
        ]
          .concat(["sh", process.execPath, "--conditions=steps-source"])
          .concat([join(import.meta.dirname, "run-in-child.ts"), inner]),
      ),
    );
    expect(ran.output).toBe("outer\n");
    expect([isRunning("outer"), isRunning("inner")]).toEqual([false, false]);
  });

  test("outside of the group that write without end do not hold up the step, nor reach the next log", async () => {
    const ran = await run(
      sequence([
        item(sh(`setsid sh -c 'trap "" TERM; echo $$ > ${dir}/pid; exec yes' & while ! [ -s ${dir}/pid ]; do :; done`)),
        item(sh("echo next")),
      ]),
      { graceMs: 100 },
    );
    expect(ran.output.endsWith("next\n")).toBe(true);
    expect(isRunning("pid")).toBe(false);
  });
});

describe.skipIf(process.getuid?.() !== 0)("processes that took another user", () => {
  test("are waited for at most a moment, and never reach the next log", async () => {
    chmodSync(dir, 0o777);
    const other = `echo $$ > ${dir}/pid; while ! [ -e ${dir}/go ]; do sleep 0.05; done; echo leak; echo told > ${dir}/told`;
    writeFileSync(join(dir, "other"), other);
    const ran = await run(
      sequence([
        item(
          sh(
            `setsid setpriv --reuid 65534 --clear-groups sh ${dir}/other & while ! [ -s ${dir}/pid ]; do sleep 0.05; done`,
          ),
        ),
        item(
          sh(
            `touch ${dir}/go; while grep -qs '^State:.[^ZX]' /proc/$(cat ${dir}/pid)/status; do sleep 0.05; done; echo next`,
          ),
        ),
      ]),
    );
    expect(ran).toMatchObject({ output: "next\n", outcome: { status: "success" } });
  });
});

describe("killSurvivors()", () => {
  test("ends processes with the cookie and no other", async () => {
    const cookie = freshCookie();
    const start = (value: string) =>
      spawn("sh", ["-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"], {
        env: { ...baseEnv, STEP_RUNNER_COOKIE: value },
        stdio: ["ignore", "pipe", "ignore"],
        detached: true,
      });
    const [ours, other] = [start(cookie), start(`${cookie}0`)];
    await Promise.all([ours, other].map((child) => new Promise((resolve) => child.stdout.once("data", resolve))));
    const exited = new Promise((resolve) => ours.once("exit", (_code, signal) => resolve(signal)));
    expect(await killSurvivors(cookie, 50)).toBeGreaterThanOrEqual(1);
    expect(await exited).toBe("SIGKILL");
    expect(other.exitCode).toBe(null);
    process.kill(-(other.pid as number), "SIGKILL");
    expect(await killSurvivors(cookie, 50)).toBe(0);
  });

  test("ends what has no mark in the group of a process that has one", async () => {
    const cookie = freshCookie();
    const child = spawn(
      "sh",
      ["-c", `env -i sh -c 'trap "" TERM; echo $$ > ${dir}/unmarked; echo; while :; do sleep 0.05; done' & wait`],
      {
        env: { ...baseEnv, STEP_RUNNER_COOKIE: cookie },
        stdio: ["ignore", "pipe", "ignore"],
        detached: true,
      },
    );
    await new Promise((resolve) => child.stdout.once("data", resolve));
    expect(await killSurvivors(cookie, 50)).toBeGreaterThanOrEqual(2);
    expect(isRunning("unmarked")).toBe(false);
  });
});

describe("cancel", () => {
  test("gives the group TERM, starts nothing more and reads no outputs", async () => {
    const script = `trap 'echo x=1 > \${{ output_file }}; exit 0' TERM; echo ready; while :; do sleep 0.05; done`;
    const ran = await run(sequence([call("a", "./a"), call("b", "./b")]), {
      steps: { "./a": sequence([call("c", "./c")]), "./c": sh(script) },
      ...abortOnOutput(new Cancelled("SIGINT")),
    });
    expect(ran.outcome).toEqual({
      status: "cancelled",
      signal: "SIGINT",
      error: { code: "CANCELLED", message: 'step "a": step "c": exec: cancelled by SIGINT' },
    });
    expect(statuses(ran.events)).toEqual(["0/0:cancelled", "0:cancelled", ":cancelled"]);
    expect(eventOf(ran, "step-finished", "0/0")).toMatchObject({ exitCode: 0, outputs: {} });
  });

  test("kills what ignores TERM when the grace is over, children too", async () => {
    const script = `trap '' TERM; sleep 60 & echo $! > ${dir}/child; echo ready; wait; sleep 60`;
    const ran = await run(sh(script), { graceMs: 100, ...abortOnOutput(new Cancelled("SIGTERM")) });
    expect(ran.outcome.status).toBe("cancelled");
    expect(eventOf(ran, "step-finished", "")).toMatchObject({ signal: "SIGKILL" });
    expect(isRunning("child")).toBe(false);
  });

  test("leaves children of an ended leader the rest of the grace", async () => {
    const script = `sh -c 'trap "sleep 0.3; echo clean > ${dir}/clean; exit" TERM; echo ready; while :; do sleep 0.05; done' & wait`;
    await run(sh(script), { graceMs: 10_000, ...abortOnOutput(new Cancelled()) });
    expect(readFileSync(join(dir, "clean"), "utf8")).toBe("clean\n");
  });

  test("reaches a loader, and a run that has not begun", async () => {
    const controller = new AbortController();
    const loading = await run(sequence([call("a", "./a")]), {
      signal: controller.signal,
      hooks: {
        loadStep: (_reference, _from, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
            controller.abort(new Cancelled("SIGTERM"));
          }),
      },
    });
    expect(loading.outcome).toMatchObject({ status: "cancelled", signal: "SIGTERM" });
    const before = await run(exec(["true"]), { signal: AbortSignal.abort() });
    expect(before.outcome.status).toBe("cancelled");
    expect(before.events.map((event) => event.type)).toEqual(["step-opened", "step-finished"]);
  });

  test("leaves no listener on the signal of the caller", async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const watched = new Proxy(signal, {
      get: (target, key) => {
        if (key === "addEventListener") listeners += 1;
        if (key === "removeEventListener") listeners -= 1;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    await run(sequence([item(exec(["true"])), item(exec(["false"]))]), { signal: watched, timeoutMs: 60_000 });
    expect(listeners).toBe(0);
  });

  test("by the clock has a status of its own", async () => {
    const ran = await run(sequence([call("a", "./a")]), { steps: { "./a": sh("sleep 60") }, timeoutMs: 100 });
    expect(ran.outcome).toMatchObject({ status: "timeout", error: { code: "TIMEOUT" } });
    expect(statuses(ran.events)).toEqual(["0:timeout", ":timeout"]);
  });
});

describe("commands", () => {
  test("are looked up in the step's own PATH and keep their name", async () => {
    writeFileSync(join(dir, "mine"), "#!/bin/sh\necho mine\n");
    chmodSync(join(dir, "mine"), 0o755);
    const ran = await run(exec(["mine"], { env: { PATH: `${dir}:\${{ env.PATH }}` } }));
    expect(ran.output).toBe("mine\n");
    expect((await run(exec(["sh", "-c", "cat /proc/$$/cmdline"]))).output).toBe("sh\0-c\0cat /proc/$$/cmdline\0");
  });

  test("name their program and its interpreters with digests", async () => {
    writeFileSync(join(dir, "tool"), "#!/usr/bin/env sh\necho hi\n");
    chmodSync(join(dir, "tool"), 0o755);
    const ran = await run(exec([join(dir, "tool")]));
    const { tools } = eventOf(ran, "process-starting", "");
    const files = [join(dir, "tool"), "/usr/bin/env", "/bin/sh"].map((file) => realpathSync(file));
    expect(tools.map((tool) => tool.uri)).toEqual(files);
    expect(tools.map((tool) => tool.digest["sha256"])).toEqual(files.map((file) => sha256(readFileSync(file))));
  });

  test("run in the job's directory, or relative to it, and a slash is relative to where they run", async () => {
    mkdirSync(join(dir, "sub"));
    writeFileSync(join(dir, "sub", "here"), "#!/bin/sh\npwd\n");
    chmodSync(join(dir, "sub", "here"), 0o755);
    const ran = await run(sequence([item(sh("pwd")), item(exec(["./here"], { workDir: "sub" }))]), { workDir: dir });
    expect(ran.output).toBe(`${dir}\n${dir}/sub\n`);
  });

  test("that cannot run say why", async () => {
    writeFileSync(join(dir, "plain"), "x");
    writeFileSync(join(dir, "lost"), "#!/no/such/interpreter\n");
    chmodSync(join(dir, "lost"), 0o755);
    symlinkSync("loop", join(dir, "loop"));
    const codes = async (command: string[], rest = {}) => (await run(exec(command, rest))).outcome;
    expect(await codes(["no-such-program"])).toMatchObject({ status: "failure", error: { code: "COMMAND_NOT_FOUND" } });
    expect((await codes(["no\u001b[31m\u009bsuch"])).error?.message).toBe(
      'exec: command "no\uFFFD[31m\uFFFDsuch" was not found in PATH',
    );
    expect(await codes([join(dir, "loop")])).toMatchObject({ error: { code: "COMMAND_NOT_FOUND" } });
    expect(await codes(["${{ '' }}"])).toMatchObject({ error: { code: "COMMAND_NOT_FOUND" } });
    expect(await codes([join(dir, "plain")])).toMatchObject({ error: { code: "COMMAND_NOT_EXECUTABLE" } });
    expect(await codes([dir])).toMatchObject({ error: { code: "COMMAND_NOT_EXECUTABLE" } });
    expect(await codes([join(dir, "lost")])).toMatchObject({ error: { code: "COMMAND_NOT_EXECUTABLE" } });
    expect(await codes(["true"], { workDir: "gone" })).toMatchObject({ error: { code: "WORK_DIR_MISSING" } });
    expect(await codes(["true", "x".repeat(4_000_000)])).toMatchObject({
      status: "error",
      error: { code: "SPAWN_FAILED" },
    });
    expect(await codes(["true", "a\0b"])).toMatchObject({ status: "error", error: { code: "SPAWN_FAILED" } });
  });
});
