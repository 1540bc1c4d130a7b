import { writeFileSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { compileCache, withTempDir } from "@steps/testkit";
import { assertExpectations, EXPECT_KEYS } from "./assert-expectations.ts";
import { commandUnderTest } from "./command-under-test.ts";
import { type Case, checkKeys, isRecord } from "./read-cases.ts";
import { type Ended, startCommand } from "./start-command.ts";
import { createWorld, type World } from "./world.ts";

const WORLD_KEYS = ["files", "git", "zip", "oci"];
const CALL_KEYS = ["command", "shell", "env", "stdin", "expect"];
const TIMEOUT_MS = 50_000;

/** Checks a case of kind `run`: lays its world, runs its commands one after the other, and compares what they did. */
export async function checkRun({ data }: Case): Promise<void> {
  checkKeys(data, [...WORLD_KEYS, ...CALL_KEYS, "commands", "requires"], "run");
  const { commands, files, git, zip, oci, requires: _requires, ...call } = data;
  if ((commands === undefined) === (call["command"] === undefined)) throw new Error("Give command or commands");
  if (commands !== undefined && !Array.isArray(commands)) throw new Error("commands is a list");
  if (commands !== undefined && ["stdin", "expect", "shell"].some((key) => key in call)) {
    throw new Error("With commands, stdin and expect belong to each of them");
  }
  const text = JSON.stringify(data);
  const needs = {
    git: git !== undefined || text.includes("{{git}}"),
    http: text.includes("{{http}}"),
    registry: text.includes("{{registry}}"),
  };
  await withTempDir(async (scratch) => {
    await using world = await createWorld(scratch, needs);
    await world.commit(git);
    world.pack(zip);
    world.store(oci);
    world.lay(files);
    const steps: readonly unknown[] = commands ?? [call];
    for (const [index, step] of steps.entries()) {
      if (!isRecord(step)) throw new Error(`Command ${index + 1} is no mapping`);
      try {
        await applyStep(world, { ...step, env: { ...envOf(call), ...envOf(step) } });
      } catch (error) {
        if (commands === undefined) throw error;
        throw new Error(`Command ${index + 1}: ${(error as Error).message}`, { cause: error });
      }
    }
  });
}

function envOf(step: Readonly<Record<string, unknown>>): Record<string, string> {
  const env = step["env"] ?? {};
  if (!isRecord(env)) throw new Error("env is no mapping");
  return env as Record<string, string>;
}

async function applyStep(world: World, step: Readonly<Record<string, unknown>>): Promise<void> {
  checkKeys(step, [...WORLD_KEYS, ...CALL_KEYS], "a command");
  await world.commit(step["git"]);
  world.pack(step["zip"]);
  world.store(step["oci"]);
  world.lay(step["files"]);
  if (step["command"] === undefined && step["shell"] === undefined) return;
  const expect = fillAll(step["expect"] ?? {}, world.fill);
  if (!isRecord(expect)) throw new Error("expect is no mapping");
  checkKeys(expect, EXPECT_KEYS, "expect");
  const command = commandOf(step, world);
  assertExpectations(await start(world, command, step), { expect, command, dir: world.dir, home: world.home });
}

function commandOf({ command, shell }: Readonly<Record<string, unknown>>, world: World): string[] {
  if (typeof shell === "string") return ["/bin/sh", "-euc", world.fill(shell)];
  if (!Array.isArray(command)) throw new Error("command is no list of arguments");
  return [...commandUnderTest(), ...command.map((item) => world.fill(String(item)))];
}

function start(world: World, command: readonly string[], step: Readonly<Record<string, unknown>>): Promise<Ended> {
  const own = Object.entries(step["env"] as Record<string, string>).map(([name, value]) => [name, world.fill(value)]);
  const path = `${process.env["PATH"] ?? "/usr/bin:/bin"}${delimiter}${dirname(process.execPath)}`;
  const runner: Record<string, string> = step["shell"] === undefined ? {} : { STEP_RUNNER: launcherOf(world) };
  const env = {
    PATH: path,
    HOME: world.home,
    ...compileCache(),
    ...runner,
    ...(Object.fromEntries(own) as Record<string, string>),
  };
  const stdin = typeof step["stdin"] === "string" ? world.fill(step["stdin"]) : "";
  return startCommand(command, { cwd: world.dir, env, stdin, timeoutMs: TIMEOUT_MS });
}

// A shell calls the command by one word.
function launcherOf({ launcher }: World): string {
  const words = commandUnderTest().map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
  writeFileSync(launcher, `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`, { mode: 0o755 });
  return launcher;
}

function fillAll(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === "string") return fill(value);
  if (Array.isArray(value)) return value.map((item) => fillAll(item, fill));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillAll(item, fill)]));
}
