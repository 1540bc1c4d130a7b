import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Permit, ProcessLimit } from "./process-limit.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = new AbortController().signal;
const run = {};
const ignore = (): void => {};

/** The order in which those who wait get their permits. */
function createLine(limit: ProcessLimit) {
  const served: string[] = [];
  const permits: Permit[] = [];
  const join = (name: string, owner: object = run, signal: AbortSignal = never): void => {
    void limit.wait(owner, signal).then((permit) => {
      served.push(permit === undefined ? `${name} left` : name);
      if (permit) permits.push(permit);
    });
  };
  return { served, permits, join };
}

function take(limit: ProcessLimit, count: number): Permit[] {
  return Array.from({ length: count }, () => {
    const permit = limit.tryTake(run);
    if (permit === undefined) throw new Error("There is no permit");
    return permit;
  });
}

/** Lets everything happen that waits for no timer. */
async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

describe("ProcessLimit", () => {
  test("gives as many permits as it has, and one more for each that is given back, in the order of those who wait", async () => {
    const limit = new ProcessLimit(2);
    const [first, second] = take(limit, 2) as [Permit, Permit];
    expect(limit.tryTake(run)).toBeUndefined();
    const { served, permits, join } = createLine(limit);
    for (const name of ["a", "b", "c"]) join(name);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    await settle();
    expect(served).toEqual(["a"]);
    second[Symbol.dispose]();
    permits[0]?.[Symbol.dispose]();
    await settle();
    expect(served).toEqual(["a", "b", "c"]);
    expect(limit.taken).toBe(2);
  });

  test("lets runs take turns", async () => {
    const limit = new ProcessLimit(1);
    const [held] = take(limit, 1) as [Permit];
    const { served, permits, join } = createLine(limit);
    const other = {};
    for (const name of ["a1", "a2", "a3"]) join(name);
    for (const name of ["b1", "b2"]) join(name, other);
    held[Symbol.dispose]();
    for (let i = 0; i < 5; i++) {
      await settle();
      permits[i]?.[Symbol.dispose]();
    }
    expect(served).toEqual(["a1", "b1", "a2", "b2", "a3"]);
    expect(limit.taken).toBe(0);
  });

  test("lets those go who wait and are aborted, and keeps no place for them", async () => {
    const limit = new ProcessLimit(1);
    const [held] = take(limit, 1) as [Permit];
    const { served, permits, join } = createLine(limit);
    const controller = new AbortController();
    join("a", run, controller.signal);
    join("b");
    join("c", {}, AbortSignal.abort());
    controller.abort();
    await settle();
    expect(served.toSorted()).toEqual(["a left", "c left"]);
    held[Symbol.dispose]();
    await settle();
    expect(served).toContain("b");
    permits[0]?.[Symbol.dispose]();
    expect(limit.taken).toBe(0);
  });

  test("has a process that the system refused tried again before others, when another has ended", async () => {
    const limit = new ProcessLimit(10);
    const [first, refused] = take(limit, 2) as [Permit, Permit];
    const again = refused.renew(never, ignore);
    expect(limit.tryTake(run)).toBeUndefined();
    const { served, join } = createLine(limit);
    join("later");
    first[Symbol.dispose]();
    expect(await again).toBe(true);
    expect(served).toEqual([]);
    expect(limit.taken).toBe(1);
    refused[Symbol.dispose]();
    await settle();
    expect(served).toEqual(["later"]);
    // Nobody waits: whether there is room now is asked of the system.
    expect(limit.tryTake(run)).toBeDefined();
  });

  test("does not wait where no other process could make room", async () => {
    const limit = new ProcessLimit(10);
    const [first, second] = take(limit, 2) as [Permit, Permit];
    const waiting = first.renew(never, ignore);
    expect(await second.renew(never, ignore)).toBe(false);
    expect(await waiting).toBe(true);
    expect(await first.renew(never, ignore)).toBe(false);
    expect(limit.taken).toBe(0);
  });

  test("has a refused process tried again after a second, too", async () => {
    const limit = new ProcessLimit(10);
    const [, refused] = take(limit, 2) as [Permit, Permit];
    const again = refused.renew(never, ignore);
    await vi.advanceTimersByTimeAsync(999);
    expect(limit.taken).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await again).toBe(true);
    expect(limit.taken).toBe(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("gives up a refused process when it is aborted", async () => {
    const limit = new ProcessLimit(10);
    const [, refused] = take(limit, 2) as [Permit, Permit];
    const controller = new AbortController();
    const again = refused.renew(controller.signal, ignore);
    controller.abort();
    expect(await again).toBe(false);
    refused[Symbol.dispose]();
    expect(limit.taken).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
