import { expect, test } from "vitest";
import { Health } from "./health.ts";
import { Rights } from "./rights.ts";

const NEVER = new AbortController().signal;

test("there are never more rights than jobs at once, and who waits longest is first", async () => {
  const rights = new Rights(2);
  const first = await rights.wait("a", 0, NEVER);
  await rights.wait("a", 0, NEVER);
  const order: string[] = [];
  const third = rights.wait("b", 0, NEVER).then((right) => (order.push("b"), right));
  const fourth = rights.wait("a", 0, NEVER).then((right) => (order.push("a"), right));
  expect(rights.total).toBe(2);
  first.release();
  first.release();
  (await third).release();
  await fourth;
  expect(order).toEqual(["b", "a"]);
  expect(rights.total).toBe(2);
});

test("a runner at its own limit lets others pass", async () => {
  const rights = new Rights(3);
  await rights.wait("a", 1, NEVER);
  const stop = new AbortController();
  const waiting = rights.wait("a", 1, stop.signal);
  await rights.wait("b", 0, NEVER);
  expect(rights.total).toBe(2);
  stop.abort(new Error("ended"));
  await expect(waiting).rejects.toThrow("ended");
});

test("three refusals in a row switch a runner off for the interval, and answers in between do not count", () => {
  let now = 0;
  const health = new Health({ unhealthy_requests_limit: 3, unhealthy_interval: 3600 }, () => now);
  expect([health.noteRefused(), health.noteRefused()]).toEqual([false, false]);
  health.noteHealthy();
  expect([health.noteRefused(), health.noteRefused(), health.noteRefused()]).toEqual([false, false, true]);
  expect(health.offForMs).toBe(3_600_000);
  now = 3_600_000;
  expect(health.offForMs).toBe(0);
  expect(health.noteRefused()).toBe(false);
});
