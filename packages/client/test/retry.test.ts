import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { type ClientState, type Dial, runAndFollow } from "../src/index.ts";
import { type FakeJob, startFakeService } from "./fake-service.ts";

const hello = (job: FakeJob): void => {
  job.write("stdout", Buffer.from("hello\n"));
  job.write("stderr", Buffer.from("warning\n"));
  job.end(0);
};

const permanent = (code: string): Error => Object.assign(new Error(`It is ${code}`), { code, isPermanent: true });

test("a dial that would fail again ends the first connection at once", async () => {
  let dials = 0;
  const dial: Dial = () => {
    dials++;
    return Promise.reject(permanent("NOT_FOUND"));
  };
  await expect(runAndFollow(dial, { definition: "[]" })).rejects.toThrow("It is NOT_FOUND");
  expect(dials).toBe(1);
});

test("what cannot be found may come back once it was there; a wrong key does not", async () => {
  const fake = await startFakeService();
  fake.onStart = (job) => job.write("stdout", Buffer.from("x"));
  const failures = ["NOT_FOUND", "NOT_FOUND", "DENIED"];
  let dials = 0;
  const dial: Dial = (signal) =>
    dials++ === 0 ? fake.dial(signal) : Promise.reject(permanent(failures.shift() ?? ""));
  await expect(runAndFollow(dial, { definition: "[]" }, { onOutput: () => fake.cut() })).rejects.toThrow(
    "It is DENIED",
  );
  expect(dials).toBe(4);
});

test("who gives up says what was tried, and that the job may still run", async () => {
  const fake = await startFakeService();
  fake.onStart = (job) => job.write("stdout", Buffer.from("x"));
  let isThere = true;
  const dial: Dial = (signal) => (isThere ? fake.dial(signal) : Promise.reject(new Error("no route")));
  const states: ClientState[] = [];
  const run = runAndFollow(
    dial,
    { id: "a", definition: "[]" },
    {
      reconnectWindowMs: 400,
      onOutput: () => {
        isThere = false;
        fake.cut();
      },
      onState: (state) => states.push(state),
    },
  );
  await expect(run).rejects.toMatchObject({
    code: "CONNECTION_LOST",
    message: expect.stringMatching(
      /^The connection to the service is lost \(\d+ attempts in \d+\.\d s\): no route\. The job "a" may still run$/,
    ),
  });
  const attempts = states.flatMap((state) => (state.type === "retrying" ? [state.attempt] : []));
  expect(attempts).toEqual(attempts.map((_, at) => at + 2));
  // For people: nothing of how the library writes its errors.
  const reasons = states.flatMap((state) => ("reason" in state ? [state.reason] : []));
  expect(reasons).toContain("no route");
  expect(reasons.filter((reason) => reason.includes("["))).toEqual([]);
});

test("who tries once does not count", async () => {
  const refused = runAndFollow(
    () => Promise.reject(new Error("refused")),
    { definition: "[]" },
    { connectWindowMs: 0 },
  );
  await expect(refused).rejects.toMatchObject({ message: "There is no connection to the service: refused" });
});

test("a service that is not there yet is waited for, for a while", async () => {
  const fake = await startFakeService();
  fake.onStart = hello;
  let dials = 0;
  const dial: Dial = (signal) => (dials++ < 3 ? Promise.reject(new Error("refused")) : fake.dial(signal));
  expect((await runAndFollow(dial, { definition: "[]" })).exitCode).toBe(0);
  const never = runAndFollow(
    () => Promise.reject(new Error("refused")),
    { definition: "[]" },
    { connectWindowMs: 200 },
  );
  await expect(never).rejects.toMatchObject({
    code: "CONNECTION_FAILED",
    message: /^There is no connection to the service .*: refused$/,
  });
});

test.each([
  [Code.InvalidArgument, "REQUEST_INVALID", 1],
  [Code.AlreadyExists, "REFUSED", 1],
  [Code.PermissionDenied, "REFUSED", 1],
  [Code.ResourceExhausted, undefined, 3],
  [Code.Internal, undefined, 3],
])("Run refused with code %i", async (code, expected, runs) => {
  const fake = await startFakeService();
  fake.onStart = hello;
  fake.onCall = (call, when) => {
    if (call === "run" && when === "before" && (fake.calls["run"] as number) < 3)
      throw new ConnectError("no: because", code);
  };
  const run = runAndFollow(fake.dial, { definition: "[]" });
  if (expected === undefined) expect((await run).exitCode).toBe(0);
  else await expect(run).rejects.toMatchObject({ code: expected, message: /no: because$/ });
  expect(fake.calls).toMatchObject({ run: runs, dial: 1 });
});

test("a service that keeps failing is not asked for ever", async () => {
  const fake = await startFakeService();
  fake.onCall = (call, when) => {
    if (call === "run" && when === "before") throw new ConnectError("too many jobs", Code.ResourceExhausted);
  };
  const run = runAndFollow(fake.dial, { definition: "[]" }, { reconnectWindowMs: 300 });
  await expect(run).rejects.toMatchObject({
    code: "REFUSED",
    message: /^The service keeps failing \(\d attempts in .*too many jobs$/,
  });
  expect(fake.calls["dial"]).toBe(1);
});

test("a job that gets no place is put off, says why, and is known not to be there", async () => {
  const fake = await startFakeService();
  const full = { "step-runner-error": "TOO_MANY_JOBS" };
  fake.onCall = (call, when) => {
    if (call !== "run" || when !== "before") return;
    throw new ConnectError("1 run already\n  hint: Try again.", Code.ResourceExhausted, full);
  };
  const codes: unknown[] = [];
  const onState = (state: ClientState): void => void (state.type === "retrying" && codes.push(state.serviceCode));
  await expect(
    runAndFollow(fake.dial, { definition: "[]" }, { reconnectWindowMs: 300, onState }),
  ).rejects.toMatchObject({
    code: "REFUSED",
    serviceCode: "TOO_MANY_JOBS",
    message: /^There was no free place on the service \(\d attempts in .*: 1 run already$/,
    hint: "Try again.",
  });
  expect(new Set(codes)).toEqual(new Set(["TOO_MANY_JOBS"]));
  const stop = new AbortController();
  const run = runAndFollow(
    fake.dial,
    { id: "a", definition: "[]" },
    {
      signal: stop.signal,
      onState: (state) => void (state.type === "retrying" && stop.abort()),
    },
  );
  await expect(run).rejects.toMatchObject({
    code: "CANCELLED",
    message: 'The job "a" was cancelled before it started',
  });
});

test("the service's own word and hint are passed on", async () => {
  const fake = await startFakeService();
  fake.onCall = (call) => {
    if (call !== "run") return;
    const text = 'Job "a" has a token, and the call has none\n  hint: Send it.';
    throw new ConnectError(text, Code.Unauthenticated, { "step-runner-error": "TOKEN_MISSING" });
  };
  await expect(runAndFollow(fake.dial, { id: "a", definition: "[]" })).rejects.toMatchObject({
    code: "REFUSED",
    serviceCode: "TOKEN_MISSING",
    message: 'The service refused job "a": Job "a" has a token, and the call has none',
    hint: "Send it.",
  });
});

test("a token that no header can carry is refused here", async () => {
  const fake = await startFakeService();
  const run = runAndFollow(fake.dial, { definition: "[]" }, { token: "a\r\nb" });
  await expect(run).rejects.toMatchObject({ code: "REQUEST_INVALID" });
  expect(fake.calls["dial"]).toBeUndefined();
});
