import { createHash } from "node:crypto";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { followJob, runAndFollow } from "@steps/client";
import { dialUnix } from "@steps/dial";
import { readIfThere } from "../kit/files.ts";
import type { Random } from "../kit/random.ts";
import { startService } from "../kit/service.ts";
import { withUser } from "../kit/user.ts";
import type { Trial } from "../trial.ts";

const CUTS = 3;

export const cuts: Trial = {
  name: "cuts",
  holds: "However often the connection is cut, in either direction, a job runs once and each byte of it arrives once.",
  count: 101,
  smallCount: 3,
  attempt: ({ random, isSmall }) =>
    withUser(async (user) => {
      const service = await startService(user);
      const lines = random.int(isSmall ? 2000 : 10_000, isSmall ? 20_000 : 300_000);
      const expected = linesOf(lines);
      const places = Array.from({ length: CUTS }, () => random.int(1, random.pick([600, expected.length])));
      await using relay = await startRelay(service.socket, join(user.dir, "relay.sock"), places, random);
      const got = { stdout: createHash("sha256"), bytes: 0 };
      const ciScript = `echo run >>runs; seq 1 ${lines}`;
      const outcome = await runAndFollow(
        dialUnix({ path: relay.path }),
        { ciScript, workDir: user.work },
        {
          keep: true,
          token: "t".repeat(32),
          onOutput: (stream, bytes) => {
            if (stream === "stderr") return;
            got.stdout.update(bytes);
            got.bytes += bytes.length;
          },
        },
      );
      let stored = 0;
      await followJob(service.dial, outcome.id, {
        token: "t".repeat(32),
        onOutput: (stream, bytes) => void (stored += stream === "stdout" ? bytes.length : 0),
      });
      const isSame = got.stdout.digest("hex") === createHash("sha256").update(expected).digest("hex");
      const problems = [
        ...(outcome.exitCode === 0 ? [] : [`exit code ${outcome.exitCode}`]),
        ...(isSame ? [] : [`${got.bytes} bytes arrived, ${expected.length} were written, ${stored} are stored`]),
        ...(readIfThere(join(user.work, "runs")) === "run\n" ? [] : ["the job did not run exactly once"]),
      ];
      await service.stop();
      return {
        failure: problems.length === 0 ? undefined : problems.join("; "),
        measured: {
          cuts: relay.cuts(),
          "bytes written": expected.length,
          "bytes lost or repeated": Math.abs(got.bytes - expected.length),
        },
      };
    }),
};

function linesOf(count: number): string {
  let text = "";
  for (let line = 1; line <= count; line++) text += `${line}\n`;
  return text;
}

interface Relay extends AsyncDisposable {
  readonly path: string;
  readonly cuts: () => number;
}

/**
 * A relay to a service that cuts each connection after so many bytes, in the middle of a chunk: the first bytes of it go on, the
 * rest is lost, as on a network.
 */
async function startRelay(target: string, path: string, places: number[], random: Random): Promise<Relay> {
  let count = 0;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target);
    let left = places.shift() ?? Number.POSITIVE_INFINITY;
    const end = (): void => [near, far].forEach((socket) => void socket.destroy());
    const pass = (to: Socket) => (chunk: Buffer) => {
      const rest = left - chunk.length;
      to.write(rest > 0 ? chunk : chunk.subarray(0, left));
      left = rest;
      if (left > 0 || near.destroyed) return;
      count += 1;
      // Sometimes the end is seen at once, sometimes what was sent still arrives.
      if (random.next() < 0.5) end();
      else setTimeout(end, random.int(0, 20));
      left = Number.POSITIVE_INFINITY;
      for (const socket of [near, far]) socket.removeAllListeners("data").pause();
    };
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", end).on("close", end);
    }
    near.on("data", pass(far));
    far.on("data", pass(near));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    path,
    cuts: () => count,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
