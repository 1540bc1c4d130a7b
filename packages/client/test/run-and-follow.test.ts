import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { type ClientState, type Dial, followJob, type Offsets, runAndFollow } from "../src/index.ts";
import { countedBytes, dialSocket, type FakeJob, type FakeService, startFakeService } from "./fake-service.ts";

/** Takes output into two buffers. */
function collect(): {
  onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void;
  text: () => { stdout: Buffer; stderr: Buffer };
} {
  const chunks = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
  return {
    onOutput: (stream, bytes) => void chunks[stream].push(Uint8Array.from(bytes)),
    text: () => ({ stdout: Buffer.concat(chunks.stdout), stderr: Buffer.concat(chunks.stderr) }),
  };
}

const hello = (job: FakeJob): void => {
  job.write("stdout", Buffer.from("hello\n"));
  job.write("stderr", Buffer.from("warning\n"));
  job.end(0);
};

test("runs a job and gives what was wanted of it", async () => {
  const fake = await startFakeService();
  fake.onStart = hello;
  const { onOutput, text } = collect();
  const states: ClientState["type"][] = [];
  const outcome = await runAndFollow(
    fake.dial,
    {
      definition: "- script: echo hello",
      timeoutMs: 1500,
      inputs: { who: ["you", 1] },
      variables: { A: { value: "b", isMasked: true } },
    },
    { onOutput, wantsResult: true, wantsTrace: true, onState: ({ type }) => states.push(type) },
  );
  expect(text().stdout.toString()).toBe("hello\n");
  expect(text().stderr.toString()).toBe("warning\n");
  expect(outcome).toMatchObject({ exitCode: 0, offsets: { stdout: 6, stderr: 8 }, job: { id: outcome.id } });
  expect(Buffer.from(outcome.trace as Uint8Array)).toEqual(Buffer.from(fake.trace));
  expect(outcome.result?.env).toEqual({ STATE: "last" });
  expect(states).toEqual(["connected", "started", "ended", "closed"]);
  expect(fake.jobs.size).toBe(0);
  expect(fake.calls["dial"]).toBe(1);
  const [request] = fake.requests;
  expect(request).toMatchObject({
    id: outcome.id,
    definition: "- script: echo hello",
    timeout: { seconds: 1n, nanos: 500_000_000 },
  });
  expect(request?.nonce).toMatch(/^[0-9a-f]{32}$/);
  expect(request?.variables).toMatchObject([{ key: "A", value: "b", masked: true, file: false }]);
  expect(fake.tokens).toEqual([outcome.token]);
  expect(outcome.token).toMatch(/^[\w-]{43}$/);
});

/** Destroys the connection after a random number of bytes, `cuts` times. */
function cutting(fake: FakeService, cuts: { left: number }, within: number): Dial {
  return async (signal) => {
    const socket = await dialSocket(fake.path, signal);
    if (cuts.left-- <= 0) return socket;
    let rest = randomInt(1, within);
    // Below HTTP/2, which reads from the handle itself: what is counted is what the peer has sent.
    const timer = setInterval(() => {
      if (socket.bytesRead < rest) return;
      rest = Number.POSITIVE_INFINITY;
      socket.destroy();
    }, 1);
    socket.on("close", () => clearInterval(timer));
    return socket;
  };
}

test("20 MB arrive exactly, with 20 cuts at random moments", async () => {
  const fake = await startFakeService();
  const out = countedBytes(16 << 20);
  const err = countedBytes(4 << 20).toReversed();
  fake.onStart = (job) => {
    for (let at = 0; at < 64; at++) {
      job.write("stdout", out.subarray((at * out.length) / 64, ((at + 1) * out.length) / 64));
      job.write("stderr", err.subarray((at * err.length) / 64, ((at + 1) * err.length) / 64));
    }
    job.end(7);
  };
  const { onOutput, text } = collect();
  const results: string[] = [];
  let lost = 0;
  const cuts = { left: 20 };
  const outcome = await runAndFollow(
    cutting(fake, cuts, 1 << 20),
    { definition: "[]" },
    {
      // A sink that now and then takes its time.
      onOutput: async (stream, bytes) => {
        onOutput(stream, bytes);
        if (randomInt(50) === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      },
      onResult: (result) => void results.push(result.env["STATE"] as string),
      onState: ({ type }) => void (lost += type === "lost" ? 1 : 0),
    },
  );
  expect(outcome.exitCode).toBe(7);
  // All cuts were made; those that came before the service had greeted us were of no connection.
  expect(cuts.left).toBeLessThan(0);
  expect(lost).toBeGreaterThan(0);
  expect(text().stdout.equals(out)).toBe(true);
  expect(text().stderr.equals(err)).toBe(true);
  expect(results.at(-1)).toBe("last");
  expect(new Set(fake.requests.map(({ nonce }) => nonce)).size).toBe(1);
  expect(fake.jobs.size).toBe(0);
});

test.each(["before", "after"] as const)("a cut %s Run is acknowledged starts one job", async (when) => {
  const fake = await startFakeService();
  let started = 0;
  fake.onStart = (job) => {
    started++;
    hello(job);
  };
  fake.onCall = (call, at) => {
    if (call === "run" && at === when && fake.calls["run"] === 1) fake.cut();
  };
  const { onOutput, text } = collect();
  const { exitCode } = await runAndFollow(fake.dial, { definition: "[]" }, { onOutput });
  expect({ exitCode, started, runs: fake.calls["run"] }).toEqual({ exitCode: 0, started: 1, runs: 2 });
  expect(fake.requests[0]).toEqual(fake.requests[1]);
  expect(text().stdout.toString()).toBe("hello\n");
});

test("a job that the service lost is not run again", async () => {
  const fake = await startFakeService();
  fake.onStart = (job) => job.write("stdout", Buffer.from("half"));
  const states: ClientState["type"][] = [];
  const run = runAndFollow(
    fake.dial,
    { definition: "[]" },
    {
      onOutput: () => {
        fake.jobs.clear();
        fake.instance = "two";
        fake.cut();
      },
      onState: ({ type }) => states.push(type),
    },
  );
  await expect(run).rejects.toMatchObject({ code: "JOB_LOST", message: /any more: it was restarted$/ });
  expect(fake.calls["run"]).toBe(1);
  expect(states).toContain("restarted");
});

test("a restarted service tells of an interrupted job", async () => {
  const fake = await startFakeService();
  fake.onStart = (job) => job.write("stdout", Buffer.from("half"));
  const { exitCode, job } = await runAndFollow(
    fake.dial,
    { definition: "[]" },
    {
      onOutput: () => {
        fake.instance = "two";
        for (const interrupted of fake.jobs.values())
          interrupted.end(1, { code: "INTERRUPTED", message: "The service was killed" });
        fake.cut();
      },
    },
  );
  expect({ exitCode, error: job.error?.message }).toEqual({ exitCode: 1, error: "The service was killed" });
});

test("bytes from another place than was asked for are an error", async () => {
  const fake = await startFakeService();
  fake.onStart = hello;
  fake.onPiece = (piece) => ({ ...piece, offset: piece.offset + 1 });
  const { onOutput, text } = collect();
  await expect(runAndFollow(fake.dial, { definition: "[]" }, { onOutput })).rejects.toMatchObject({
    code: "LOG_DAMAGED",
    message: /sent byte 1 of stdout .* where byte 0 was due$/,
  });
  expect(text().stdout.length).toBe(0);
});

test("more bytes than there are cannot be resumed from", async () => {
  const fake = await startFakeService();
  fake.onStart = hello;
  await runAndFollow(fake.dial, { id: "a", definition: "[]" }, { keep: true });
  await expect(followJob(fake.dial, "a", { resume: { stdout: 7, stderr: 0 } })).rejects.toMatchObject({
    code: "LOG_DAMAGED",
  });
});

test("another process goes on where this one was", async () => {
  const fake = await startFakeService();
  fake.onStart = (job) => {
    for (let at = 0; at < 10; at++) job.write("stdout", Buffer.from(`line ${at}\n`));
    job.end(0);
  };
  let offsets: Offsets = { stdout: 0, stderr: 0 };
  const first = collect();
  const failing = runAndFollow(
    fake.dial,
    { id: "a", definition: "[]" },
    {
      token: "secret",
      onOutput: first.onOutput,
      onOffsets: (now) => {
        offsets = now;
        if (now.stdout >= 30) throw new Error("the disk is full");
      },
    },
  );
  // An error that the caller's own function throws reaches the caller, and the job continues.
  await expect(failing).rejects.toThrow(/^the disk is full$/);
  expect(fake.calls).toMatchObject({ dial: 1, run: 1 });
  expect(fake.calls["close"]).toBeUndefined();
  const second = collect();
  await followJob(fake.dial, "a", { token: "secret", resume: offsets, onOutput: second.onOutput, keep: false });
  expect(first.text().stdout.toString() + second.text().stdout.toString()).toMatch(/^(line \d\n){10}$/);
  expect(fake.jobs.size).toBe(0);
});

test("a sink that is slow holds back the service", async () => {
  const fake = await startFakeService();
  const total = 64 << 20;
  fake.onStart = (job) => {
    job.write("stdout", new Uint8Array(total));
    job.end(0);
  };
  let sent = 0;
  fake.onPiece = (piece) => {
    sent = piece.offset + piece.bytes.length;
    return piece;
  };
  let ahead = 0;
  let taken = 0;
  await runAndFollow(
    fake.dial,
    { definition: "[]" },
    {
      onOutput: async (_, bytes) => {
        taken += bytes.length;
        if (taken % (4 << 20) < bytes.length) await new Promise((resolve) => setTimeout(resolve, 20));
        ahead = Math.max(ahead, sent - taken);
      },
    },
  );
  expect(taken).toBe(total);
  expect(ahead).toBeLessThan(4 << 20);
});

test("nothing is left behind", async () => {
  const fake = await startFakeService();
  fake.onStart = hello;
  const kinds = (): string[] => process.getActiveResourcesInfo().filter((kind) => /Timeout|Immediate/.test(kind));
  await runAndFollow(fake.dial, { definition: "[]" });
  const before = kinds().length;
  for (let at = 0; at < 20; at++)
    await runAndFollow(fake.dial, { definition: "[]" }, { signal: new AbortController().signal });
  expect(kinds().length).toBeLessThanOrEqual(before);
  await expect.poll(() => fake.sockets.size).toBe(0);
});
