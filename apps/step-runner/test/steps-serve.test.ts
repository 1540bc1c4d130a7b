import { once } from "node:events";
import { join } from "node:path";
import { connect } from "node:net";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createWorld, processesWith, uniqueSeconds, until, type World } from "./harness.ts";

const READY = "step-runner is listening on socket ";

function serve(world: World, command: readonly string[], options: { readonly input?: string } = {}) {
  const args = ["steps", "serve", "--socket", "s.sock", ...command];
  return world.start(args, options.input === undefined ? { stdio: ["pipe", "pipe", "pipe"] } : options);
}

describe("steps serve", () => {
  test("without --socket it listens among the temporary files", async () => {
    const world = createWorld();
    const runner = world.start(["steps", "serve"], { env: { TMPDIR: world.dir } });
    await runner.printed(READY);
    runner.kill("SIGTERM");
    expect(await runner.ended).toMatchObject({ code: 0, stderr: `${READY}${join(world.dir, "step-runner.sock")}\n` });
  });

  test("runs the command with what it is given, and ends as the command does", async () => {
    const world = createWorld();
    const script = 'cat; echo "$STEP_RUNNER_SOCKET"; echo err >&2; exit 7';
    const { code, stdout, stderr } = await serve(world, ["sh", "-c", script], { input: "hello\n" }).ended;
    const socket = join(world.work, "s.sock");
    expect([code, stdout, stderr]).toEqual([7, `hello\n${socket}\n`, `${READY}${socket}\nerr\n`]);
    expect(existsSync(socket)).toBe(false);
  });

  test("the command's flags are its own, with -- and without", async () => {
    const world = createWorld();
    for (const dashes of [[], ["--"]]) {
      const { stdout } = await serve(world, [...dashes, "echo", "--socket", "--help", "--", "-x"], { input: "x" })
        .ended;
      expect(stdout).toBe("--socket --help -- -x\n");
    }
  });

  test("is ready before anything comes, and does not start the command until then", async () => {
    const world = createWorld();
    const runner = serve(world, ["sh", "-c", "echo started; cat >/dev/null"]);
    await runner.printed(READY);
    const socket = connect(join(world.work, "s.sock"));
    await once(socket, "connect");
    socket.destroy();
    runner.child.stdin?.write("\n");
    await runner.printed("started");
    runner.child.stdin?.end();
    expect((await runner.ended).code).toBe(0);
  });

  test("ends with 0 when nothing comes", async () => {
    const { code, stdout } = await serve(createWorld(), ["sh", "-c", "echo started"], { input: "" }).ended;
    expect([code, stdout]).toEqual([0, ""]);
  });

  test("ends with 0 when it is stopped before anything comes", async () => {
    const runner = serve(createWorld(), ["sh", "-c", "echo started"]);
    await runner.printed(READY);
    runner.kill("SIGTERM");
    expect(await runner.ended).toMatchObject({ code: 0, stdout: "" });
  });

  test("a signal ends the command's whole group", async () => {
    const seconds = uniqueSeconds();
    const runner = serve(createWorld(), ["sh", "-c", `sleep ${seconds} & echo up; wait`]);
    runner.child.stdin?.write("x");
    await runner.printed("up");
    runner.kill("SIGTERM");
    expect((await runner.ended).code).toBe(143);
    await until(() => processesWith(seconds).length === 0);
  });

  test("a command that ignores TERM is killed after 5 seconds", async () => {
    const seconds = uniqueSeconds();
    const runner = serve(createWorld(), ["sh", "-c", `trap "" TERM; echo up; while :; do sleep ${seconds}; done`]);
    runner.child.stdin?.write("x");
    await runner.printed("up");
    runner.kill("SIGTERM");
    expect((await runner.ended).code).toBe(137);
    expect(processesWith(seconds)).toEqual([]);
  });

  test("a command that does not read its input, and one that is not there", async () => {
    const world = createWorld();
    const input = "x".repeat(1_000_000);
    expect((await serve(world, ["sh", "-c", "exit 3"], { input }).ended).code).toBe(3);
    const missing = await serve(world, ["no-such-program"], { input }).ended;
    expect(missing.code).toBe(127);
    expect(missing.stderr).toContain('Cannot start "no-such-program": there is no such program');
  });
});
