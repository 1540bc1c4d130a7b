import { expect, test } from "vitest";
import { type ClientState, type Dial, followJob, runAndFollow, startJob } from "../src/index.ts";
import { startFakeService } from "./fake-service.ts";

test("an abort cancels the job and follows it to its end", async () => {
  const fake = await startFakeService();
  fake.onStart = (job) => job.write("stdout", Buffer.from("running\n"));
  const stop = new AbortController();
  const states: ClientState["type"][] = [];
  const { exitCode } = await runAndFollow(
    fake.dial,
    { definition: "[]" },
    {
      onOutput: () => stop.abort(),
      signal: stop.signal,
      onState: ({ type }) => states.push(type),
    },
  );
  expect(exitCode).toBe(143);
  expect(states).toEqual(["connected", "started", "cancelling", "ended", "closed"]);
});

test("an abort is heard although the connection is lost", async () => {
  const fake = await startFakeService();
  fake.onStart = (job) => job.write("stdout", Buffer.from("running\n"));
  const stop = new AbortController();
  const { exitCode } = await runAndFollow(
    fake.dial,
    { definition: "[]" },
    {
      onOutput: () => {
        fake.cut();
        stop.abort();
      },
      signal: stop.signal,
    },
  );
  expect(exitCode).toBe(143);
});

test("who hurries closes the job and leaves, whatever the sink does", async () => {
  const fake = await startFakeService();
  fake.onStart = (job) => job.write("stdout", Buffer.from("running\n"));
  const hurry = new AbortController();
  const run = runAndFollow(
    fake.dial,
    { id: "a", definition: "[]" },
    {
      onOutput: () => {
        hurry.abort();
        return new Promise(() => undefined);
      },
      hurry: hurry.signal,
    },
  );
  await expect(run).rejects.toMatchObject({ code: "ABANDONED" });
  expect(fake.calls["close"]).toBe(1);
});

test("who detaches leaves at once, whatever the sink does, and the job goes on", async () => {
  const fake = await startFakeService();
  fake.onStart = (job) => job.write("stdout", Buffer.from("running\n"));
  await startJob(fake.dial, { id: "a", definition: "[]" });
  const detach = new AbortController();
  const followed = followJob(fake.dial, "a", {
    onOutput: () => {
      detach.abort();
      return new Promise(() => undefined);
    },
    detach: detach.signal,
  });
  await expect(followed).rejects.toMatchObject({ code: "DETACHED", message: 'The job "a" goes on by itself' });
  expect([fake.calls["cancel"], fake.calls["close"]]).toEqual([undefined, undefined]);
});

test("a job that no service takes is refused before anybody is dialled", async () => {
  let dials = 0;
  const dial = (): Promise<never> => Promise.reject(new Error(`${++dials}`));
  const definition = "x".repeat(70 * 1024 * 1024);
  await expect(runAndFollow(dial, { definition })).rejects.toMatchObject({
    code: "REQUEST_INVALID",
    message: "The job has 70.0 MiB, and a service takes 64 MiB",
  });
  await expect(startJob(dial, { definition })).rejects.toMatchObject({ code: "REQUEST_INVALID" });
  expect(dials).toBe(0);
});

test("an abort before there is a service starts nothing", async () => {
  const stop = new AbortController();
  const dial: Dial = () => {
    stop.abort();
    return Promise.reject(new Error("nobody there"));
  };
  await expect(runAndFollow(dial, { definition: "[]" }, { signal: stop.signal })).rejects.toMatchObject({
    code: "CANCELLED",
  });
});

test("an abort while Run is under way waits for what the service says", async () => {
  const fake = await startFakeService();
  const stop = new AbortController();
  fake.onCall = (call, when) => {
    if (call === "run" && when === "before") stop.abort();
  };
  const { exitCode } = await runAndFollow(fake.dial, { definition: "[]" }, { signal: stop.signal });
  expect(exitCode).toBe(143);
  expect(fake.calls).toMatchObject({ run: 1, cancel: 1, close: 1 });
});

test("an abort while Run is lost takes the job back", async () => {
  const fake = await startFakeService();
  const stop = new AbortController();
  fake.onCall = (call, when) => {
    if (call !== "run" || when !== "after") return;
    stop.abort();
    fake.cut();
  };
  const run = runAndFollow(fake.dial, { id: "a", definition: "[]" }, { signal: stop.signal });
  await expect(run).rejects.toMatchObject({ code: "CANCELLED" });
  expect(fake.calls).toMatchObject({ run: 1, close: 1 });
  expect(fake.jobs.size).toBe(0);
});
