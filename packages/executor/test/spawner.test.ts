import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SpecDefinition } from "@steps/model/definition";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Cancelled, Spawner } from "../src/index.ts";
import { eventOf, exec, isAlive, item, run, type Ran, sequence, type Setup, sh, statuses } from "./harness.ts";
import { parentName, spawnersOf, untilReady } from "./spawners.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "executor-spawner-"));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
  expect(spawnersOf(process.pid)).toEqual([]);
});

/** Runs steps behind one that waits for the spawner. */
function runSpawned(steps: readonly SpecDefinition[], setup: Setup = {}): Promise<Ran> {
  return run(sequence([item(sh(untilReady)), ...steps.map((step) => item(step))]), { spawnerAfter: 0, ...setup });
}

function spawner(): number {
  const [pid] = spawnersOf(process.pid);
  if (pid === undefined) throw new Error("no spawner");
  return pid;
}

/** Calls back when a step prints. */
function onOutput(callback: (text: string) => void): Setup {
  const write = (_stream: string, chunk: Uint8Array): undefined => {
    callback(String(chunk));
  };
  return { hooks: { openLog: () => ({ write, close: () => undefined }) } };
}

function isRunning(file: string): boolean {
  const pid = readFileSync(join(dir, file), "utf8").trim();
  return isAlive(Number(pid)) && !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
}

describe("a run of many processes", () => {
  test("has them started by its spawner, with their output in order and complete", async () => {
    const many = Array.from({ length: 60 }, (_, i) => sh(`${parentName}; echo out ${i}; echo err ${i} >&2`));
    const streams: Record<string, string> = { stdout: "", stderr: "" };
    const ran = await runSpawned(many, {
      hooks: {
        openLog: () => ({
          write: (stream, chunk) => {
            streams[stream] += String(chunk);
          },
          close: () => undefined,
        }),
      },
    });
    expect(ran.outcome).toEqual({ status: "success" });
    expect(streams["stdout"]).toBe(many.map((_, i) => `steps-spawner\nout ${i}\n`).join(""));
    expect(streams["stderr"]).toBe(many.map((_, i) => `err ${i}\n`).join(""));
    expect(ran.leftInTmp).toEqual([]);
  });

  test("shares a spawner with other runs that were given the same, and leaves it to them", async () => {
    await using shared = new Spawner(0);
    const first = await run(sequence([item(sh(untilReady)), item(sh("echo $PPID"))]), { spawner: shared });
    const [second, third] = await Promise.all(
      ["echo b $PPID", "echo c $PPID"].map((text) => run(sequence([item(sh(text))]), { spawner: shared })),
    );
    const pid = first.output.trim();
    expect([pid]).toEqual(spawnersOf(process.pid).map(String));
    expect([second?.output, third?.output]).toEqual([`b ${pid}\n`, `c ${pid}\n`]);
  });

  test("carries 10 MB", async () => {
    let bytes = 0;
    await runSpawned(
      [sh("head -c 10000000 /dev/zero; printf x >&2")],
      onOutput((text) => (bytes += text.length)),
    );
    expect(bytes).toBe(10_000_001);
  });

  test("has none before it is due, nor where Node cannot be started by its name", async () => {
    const steps = Array.from({ length: 4 }, () => sh(`cat /proc/$PPID/comm; cat /proc/$PPID/task/$PPID/children`));
    const listed = await run(sequence(steps.map((step) => item(step))), { spawnerAfter: 4 });
    expect(listed.output).not.toContain("steps-spawner");
    const { execPath } = process;
    try {
      process.execPath = join(dir, "ld.so");
      writeFileSync(process.execPath, `#!/bin/sh\necho started > ${dir}/started\n`, { mode: 0o755 });
      expect((await run(sequence([item(sh("echo a")), item(sh("echo b"))]), { spawnerAfter: 0 })).output).toBe(
        "a\nb\n",
      );
      expect(() => readFileSync(join(dir, "started"))).toThrow("ENOENT");
      process.execPath = join(dir, "node");
      writeFileSync(process.execPath, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
      expect(
        (await run(sequence([item(sh("sleep 0.1; echo a")), item(sh("echo b"))]), { spawnerAfter: 0 })).output,
      ).toBe("a\nb\n");
      rmSync(process.execPath);
      expect((await run(sequence([item(sh("echo a")), item(sh("echo b"))]), { spawnerAfter: 0 })).output).toBe(
        "a\nb\n",
      );
    } finally {
      process.execPath = execPath;
    }
  });

  test("gives each process what it has without", async () => {
    const script = `umask; pwd; ulimit -a; nice; env -0 | sort -z | grep -zv STEP_RUNNER_COOKIE | od -c
      od -c < /proc/$$/cmdline; grep -E '^(Sig(Blk|Ign|Cgt)|Uid|Gid|Groups|Cap.*|Cpus_allowed|NoNewPrivs):' /proc/$$/status
      for fd in 0 1 2; do [ -t $fd ] || stat -L -c %F /proc/$$/fd/$fd; done; ls /proc/$$/fd; cat /proc/$$/oom_score_adj
      set -- $(sed 's/.*) //' /proc/$$/stat); [ "$3" = "$$" ] && [ "$4" = "$$" ] && echo leader $5
      echo "\${STEP_RUNNER_COOKIE%:*}"`;
    const argument = "ä\u{1F600} \ud800 \\ \" ' \n\t\u0001";
    const step = exec(["bash", "-c", script.replaceAll("$$", "$BASHPID"), "a b", argument, ""], {
      env: { ODD: argument, ["NAME WITH.dots"]: "x", __proto__x: "", EMPTY: "", LC_ALL: "C.UTF-8" },
      workDir: dir,
    });
    const umask = process.umask(0o027);
    try {
      const texts: string[] = [];
      await run(sequence([item(step), item(sh(untilReady)), item(step), item(sh(parentName))]), {
        spawnerAfter: 1,
        hooks: {
          openLog: (path) => ({
            write: (_stream, chunk) => {
              texts[Number(path)] = `${texts[Number(path)] ?? ""}${String(chunk)}`;
            },
            close: () => undefined,
          }),
        },
      });
      expect(texts[3]).toBe("steps-spawner\n");
      const plain = (text = ""): string => text.replaceAll(/\d{3,}/g, (digits) => (digits === "0027" ? digits : "#"));
      expect(plain(texts[2])).toBe(plain(texts[0]));
      expect(texts[2]).toMatch(/^0027\n/);
      expect(texts[2]).toContain("leader 0\n");
    } finally {
      process.umask(umask);
    }
  });

  test("is told why one cannot be started as without", async () => {
    const files = { plain: "x", lost: "#!/no/such/interpreter\n" };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
    for (const name of Object.keys(files)) chmodSync(join(dir, name), 0o755);
    const commands = [
      [join(dir, "lost")],
      [join(dir, "plain")],
      ["true", "a\0b"],
      ["true", "x".repeat(200_000)],
      ["true", ...Array.from({ length: 40 }, () => "x".repeat(100_000))],
    ];
    for (const command of commands) {
      const [here, spawned] = [await run(exec(command)), await runSpawned([exec(command)])];
      expect(here.outcome.status).not.toBe("success");
      expect(eventOf(spawned, "step-finished", "1").error).toEqual(eventOf(here, "step-finished", "").error);
    }
    const long = "x".repeat(100_000);
    const ran = await runSpawned([exec(["sh", "-c", 'echo "${#1} $#"', "sh", long, long, long, long])]);
    expect(ran.output).toBe("100000 4\n");
  });

  test("hears how each ended", async () => {
    const steps = [item(sh(untilReady)), item(sh("exit 7"))];
    const cleanUp = { finally: [item(sh("kill -ABRT $$"))] };
    const ran = await run(sequence(steps, cleanUp), { spawnerAfter: 0 });
    expect(eventOf(ran, "step-finished", "1")).toMatchObject({ exitCode: 7 });
    expect(eventOf(ran, "step-finished", "2")).toMatchObject({ status: "failure", signal: "SIGABRT" });
  });
});

describe("processes of a spawner", () => {
  test("get TERM and KILL when the run is cancelled, children too", async () => {
    const cancel = new AbortController();
    const script = `trap 'echo told' TERM; (trap '' TERM; echo $BASHPID > ${dir}/child; sleep 60; sleep 60) &
      while ! [ -s ${dir}/child ]; do :; done; echo ready; while :; do sleep 0.05; done`;
    const told: string[] = [];
    const ran = await runSpawned([exec(["bash", "-c", script])], {
      graceMs: 200,
      signal: cancel.signal,
      ...onOutput((text) => {
        told.push(text);
        if (text === "ready\n") cancel.abort(new Cancelled("SIGINT"));
      }),
    });
    expect(ran.outcome).toMatchObject({ status: "cancelled", signal: "SIGINT" });
    expect(eventOf(ran, "step-finished", "1")).toMatchObject({ signal: "SIGKILL" });
    expect(told.join("").split("\n")).toContain("told");
    expect(isRunning("child")).toBe(false);
  });

  test("leave nothing behind, in their group or out of it, and the spawner is not taken for it", async () => {
    const ran = await runSpawned([
      sh(`sleep 60 & echo $! > ${dir}/group; sleep 60 > /dev/null 2>&1 & echo $! > ${dir}/quiet`),
      sh(
        `setsid sh -c 'echo $$ > ${dir}/session; exec sleep 60' > /dev/null 2>&1 & while ! [ -s ${dir}/session ]; do :; done`,
      ),
      sh(`env -i setsid sh -c 'echo $$ > ${dir}/holder; exec sleep 60' & while ! [ -s ${dir}/holder ]; do :; done`),
      sh(parentName),
    ]);
    expect(ran.output).toBe("steps-spawner\n");
    expect(["group", "quiet", "session", "holder"].map(isRunning)).toEqual([false, false, false, false]);
  });

  test("are not disturbed by signals to the group of the runner", async () => {
    const ran = await runSpawned(
      [sh("echo now; sleep 0.1; exit 0"), sh(parentName)],
      onOutput((text) => {
        if (text !== "now\n") return;
        for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) process.kill(spawner(), signal);
      }),
    );
    expect(ran.outcome).toEqual({ status: "success" });
  });
});

describe("a spawner that is killed", () => {
  test("while a process runs: that one ends and its end is unknown, the others are started without", async () => {
    const texts: string[] = [];
    const ran = await run(
      sequence([item(sh(untilReady)), item(sh(`echo $$ >> ${dir}/ran; echo running; sleep 60`))], {
        finally: [item(sh("cat /proc/$PPID/comm; echo cleaned"))],
      }),
      {
        spawnerAfter: 0,
        ...onOutput((text) => {
          texts.push(text);
          if (text === "running\n") process.kill(spawner(), "SIGKILL");
        }),
      },
    );
    expect(eventOf(ran, "step-finished", "1")).toMatchObject({
      status: "error",
      error: {
        code: "SPAWN_FAILED",
        message: "exec: how the process ended is not known: the program that starts processes was killed",
      },
    });
    expect(readFileSync(join(dir, "ran"), "utf8")).toMatch(/^\d+\n$/);
    expect(isRunning("ran")).toBe(false);
    expect(texts.join("")).toMatch(/^running\n(?!steps-spawner).*\ncleaned\n$/);
  });

  test("while nothing runs: the next one is started without", async () => {
    const ran = await runSpawned([sh(parentName), sh(parentName)], {
      onEvent: (event) => {
        if (event.type === "step-finished" && event.path === "1") process.kill(spawner(), "SIGKILL");
      },
    });
    // The loss may be noticed before or after the next process is requested; it only has to be reported.
    expect(["1:success,2:success", "1:success,2:error"]).toContain(statuses(ran.events).slice(1, 3).join());
  });

  test("before it has answered: what it may have started ends, and is not started again", async () => {
    let isStopped = false;
    const ran = await runSpawned([sh(parentName), sh(`echo $$ >> ${dir}/ran; sleep 60`)], {
      onEvent: (event) => {
        if (event.type === "step-finished" && event.path === "1") {
          process.kill(spawner(), "SIGSTOP");
          isStopped = true;
        }
        if (event.type === "process-starting" && event.path === "2")
          void sleep(50).then(() => process.kill(spawner(), "SIGKILL"));
      },
    });
    expect(isStopped).toBe(true);
    expect(eventOf(ran, "step-finished", "2")).toMatchObject({ status: "error", error: { code: "SPAWN_FAILED" } });
    expect(() => readFileSync(join(dir, "ran"))).toThrow("ENOENT");
  });

  test("again and again, at any moment: no step hangs or runs twice, and nothing is left", async () => {
    for (let round = 0; round < 12; round++) {
      const file = join(dir, `round${round}`);
      let kills = 0;
      const steps = Array.from({ length: 8 }, (_, i) => sh(`echo ${i} >> ${file}; setsid sleep 60 > /dev/null 2>&1 &`));
      const ran = await runSpawned(steps, {
        onEvent: (event) => {
          if (event.type !== "process-starting" || event.path !== "4") return;
          kills += 1;
          // The kill comes after a part of the time that a start takes, from before the request until after the end.
          void sleep(round / 2).then(() => spawnersOf(process.pid).map((pid) => process.kill(pid, "SIGKILL")));
        },
      });
      expect(kills).toBe(1);
      const lines = readFileSync(file, "utf8").trim().split("\n");
      expect(lines).toEqual([...new Set(lines)]);
      const done = statuses(ran.events).filter((text) => /^[1-8]:success$/.test(text)).length;
      expect(lines.length).toBeGreaterThanOrEqual(done);
    }
  });
});
