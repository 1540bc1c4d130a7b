import { createHash } from "node:crypto";
import { type ClientState, runAndFollow } from "@steps/client";
import { dialDocker } from "@steps/dial";
import { tempDir } from "@steps/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { containerSays, docker, hasDocker, startContainer } from "./transport-harness.ts";

const STEPS = JSON.stringify([
  { name: "count", script: "i=0; while :; do i=$((i + 1)); echo line $i; sleep 0.02; done" },
]);

interface Case {
  readonly name: string;
  /** Ends the container in the middle of the job. */
  readonly end: (container: string) => void;
  /** The code of the job's error. */
  readonly code: string;
  readonly exitCode: number;
}

const CASES: readonly Case[] = [
  { name: "stopped", end: (name) => void docker("stop", "-t", "20", name), code: "CANCELLED", exitCode: 143 },
  { name: "killed", end: (name) => void docker("kill", name), code: "INTERRUPTED", exitCode: 1 },
];

describe.skipIf(!hasDocker())("a container in the middle of a job", () => {
  test.each(CASES)(
    "is $name and started again",
    async ({ end, code, exitCode }) => {
      const { name, dispose } = startContainer(tempDir(), ["serve", "--socket", "/tmp/step-runner.sock"]);
      onTestFinished(dispose);
      await containerSays(name, "is listening on socket");
      let output = "";
      let isEnded = false;
      const states: ClientState["type"][] = [];
      const { job, ...outcome } = await runAndFollow(
        dialDocker({ container: name }),
        { definition: STEPS },
        {
          onState: ({ type }) => void states.push(type),
          onOutput: (stream, bytes) => {
            if (stream === "stdout") output += Buffer.from(bytes).toString();
            if (isEnded || !output.includes("line 20\n")) return;
            isEnded = true;
            end(name);
            docker("start", name);
          },
        },
      );
      expect({ exitCode: outcome.exitCode, code: job.error?.code }).toEqual({ exitCode, code });
      expect(states).toContain("lost");
      // All that was written is there, each line once and in order, however the end came.
      const lines = output.split("\n").slice(0, -1);
      expect(lines.length).toBeGreaterThanOrEqual(20);
      expect(lines).toEqual(lines.map((_, i) => `line ${i + 1}`));
      expect(outcome.offsets.stdout).toBe(Buffer.byteLength(output));
    },
    120_000,
  );

  test("whose proxy is killed over and over loses nothing", async () => {
    const { name, dispose } = startContainer(tempDir(), ["serve", "--socket", "/tmp/step-runner.sock"]);
    onTestFinished(dispose);
    await containerSays(name, "is listening on socket");
    const hash = createHash("sha256");
    const expected = createHash("sha256");
    for (let i = 1; i <= 400; i++) expected.update(`line ${i}\n`);
    let kills = 0;
    let pieces = 0;
    const definition = JSON.stringify([
      { name: "count", script: "i=0; while [ $i -lt 400 ]; do i=$((i + 1)); echo line $i; sleep 0.01; done" },
    ]);
    const { exitCode } = await runAndFollow(
      dialDocker({ container: name }),
      { definition },
      {
        onOutput: (stream, bytes) => {
          if (stream === "stdout") hash.update(bytes);
          pieces += 1;
          if (kills === 5 || pieces % 20 !== 0) return;
          kills += 1;
          // Every proxy in the container, from outside: as if the machine had run out of memory.
          const pids = docker("top", name, "-eo", "pid,args")
            .split("\n")
            .filter((row) => / proxy/.test(row));
          for (const row of pids) process.kill(Number(row.trim().split(/\s+/)[0]), "SIGKILL");
        },
      },
    );
    expect({ exitCode, kills, sha256: hash.digest("hex") }).toEqual({
      exitCode: 0,
      kills: 5,
      sha256: expected.digest("hex"),
    });
  }, 120_000);
});
