import { randomBytes } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CONTENTS, type Places } from "../archives/contents.ts";
import { GIT } from "../archives/git.ts";
import { IMAGE } from "../archives/image.ts";
import type { Making } from "../archives/kind.ts";
import { ZIP } from "../archives/zip.ts";
import { peakMemory } from "../kit/processes.ts";
import { type Ended, type Running, type User, withUser } from "../kit/user.ts";
import type { Trial } from "../trial.ts";

const MOST_MEMORY_MIB = 1024;

interface Case {
  readonly name: string;
  readonly make: (making: Making) => Promise<string>;
}

const CASES: readonly Case[] = [ZIP, IMAGE, GIT].flatMap((kind) => [
  ...CONTENTS.map(({ name, entries }) => ({
    name: `${kind.name} with ${name}`,
    make: (making: Making) => kind.make(entries(making.places), making),
  })),
  ...Object.entries(kind.specials).map(([name, make]) => ({ name: `${kind.name}: ${name}`, make })),
]);

/** A step apart from every case, so that a few attempts in a row have cases of all kinds. */
const STRIDE = 41;

export const hostileArchives: Trial = {
  name: "hostile-archives",
  holds:
    "Nothing of a hostile zip, image or repository comes to be outside of its own folder, and the job ends in order.",
  count: CASES.length,
  smallCount: 8,
  attempt: ({ random, seed }) =>
    withUser(async (user) => {
      const { name, make } = CASES[(seed * STRIDE) % CASES.length] as Case;
      const places: Places = { mark: `evil-${randomBytes(6).toString("hex")}`, outside: join(user.dir, "outside") };
      mkdirSync(places.outside);
      await using ends = new AsyncDisposableStack();
      const step = await make({ user, places, random, atEnd: (dispose) => ends.defer(dispose) });
      const env = { STEPS: JSON.stringify([{ name: "a", step }]) };
      const running = user.start(["ci"], { env });
      const { ended, memory } = await watchMemory(running);
      const escapes = escapesOf(user, places);
      const problems = [...escapes, ...disorders(user, ended, memory)];
      return {
        failure: problems.length === 0 ? undefined : `${name}: ${problems.join("; ")}`,
        measured: {
          archives: 1,
          refused: ended.code === 0 ? 0 : 1,
          "taken, without harm": ended.code === 0 ? 1 : 0,
          escapes: escapes.length,
          "largest memory, MiB": memory,
        },
      };
    }),
};

async function watchMemory({ pid, ended }: Running): Promise<{ ended: Ended; memory: number }> {
  let memory = 0;
  const timer = setInterval(() => (memory = Math.max(memory, peakMemory(pid))), 20);
  try {
    return { ended: await ended, memory };
  } finally {
    clearInterval(timer);
  }
}

/** Files with the mark outside of the cache and of what the runner keeps of the run, and links there that lead out. */
function escapesOf(user: User, { mark, outside }: Places): string[] {
  const inside = [user.cache, user.state, join(user.dir, "project.git")];
  const here = walk(user.dir)
    .filter((path) => path.includes(mark) && !inside.some((dir) => path.startsWith(dir)))
    .map((path) => `${path} came to be`);
  const elsewhere = ["/tmp", "/", process.cwd()].map((dir) => join(dir, mark)).filter((path) => existsSync(path));
  const trees = join(user.cache, "trees");
  const links = walk(trees).filter((path) => lstatSync(path).isSymbolicLink() && leadsOut(path, trees));
  const privileged = walk(trees).filter((path) => (lstatSync(path).mode & 0o6000) !== 0);
  return [
    ...here,
    ...elsewhere.map((path) => `${path} came to be`),
    ...(readdirSync(outside).length === 0 ? [] : ["the folder outside was written to"]),
    ...links.map((path) => `${path} leads out`),
    ...privileged.map((path) => `${path} may become another user`),
  ];
}

/** Whether a link in `trees/ID` leads out of `trees/ID`, by its text alone. */
function leadsOut(path: string, trees: string): boolean {
  const root = join(trees, path.slice(trees.length + 1).split("/")[0] as string);
  const target = resolve(dirname(path), readlinkSync(path));
  return target !== root && !target.startsWith(`${root}/`);
}

/**
 * Returns the signs of an end that was not orderly: a signal, the lines of a crash, no message, leftovers, much memory.
 */
function disorders(user: User, { code, signal, stderr }: Ended, memory: number): string[] {
  const temporary = join(user.cache, "tmp");
  const leftovers = existsSync(temporary) ? readdirSync(temporary) : [];
  return [
    ...(code === null ? [`it was ended by ${signal}`] : []),
    ...(/^\s+at .*:\d+:\d+\)?$/m.test(stderr) ? [`it crashed: ${stderr.slice(0, 300)}`] : []),
    ...(code !== 0 && !stderr.includes("error") && !stderr.includes("Cannot")
      ? [`it does not say why: ${stderr}`]
      : []),
    ...(leftovers.length === 0 ? [] : [`${leftovers.join(", ")} is left in the cache`]),
    ...(memory <= MOST_MEMORY_MIB ? [] : [`it took ${memory} MiB`]),
  ];
}

function walk(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    return entry.isDirectory() ? [path, ...walk(path)] : [path];
  });
}
