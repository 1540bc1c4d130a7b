import { expect, test } from "vitest";
import type { FetchProgress } from "./component.ts";
import type { Flights } from "./single-flight.ts";
import { singleFlight } from "./single-flight.ts";

test("singleFlight() runs once, tells all how far it is, and runs again afterwards", async () => {
  const flights: Flights = new Map();
  const gate = Promise.withResolvers<string>();
  let runs = 0;
  const seen: FetchProgress[] = [];
  const ask = (): Promise<{ value: string; isFirst: boolean }> =>
    singleFlight(flights, "key", {
      waiter: { onProgress: (progress) => seen.push(progress) },
      run: async ({ onProgress }) => {
        runs += 1;
        await Promise.resolve();
        onProgress({ phase: "fetch" });
        return await gate.promise;
      },
    });
  const both = Promise.all([ask(), ask()]);
  gate.resolve("done");
  expect(await both).toEqual([
    { value: "done", isFirst: true },
    { value: "done", isFirst: false },
  ]);
  expect([runs, seen.length, flights.size]).toEqual([1, 2, 0]);
  await ask();
  expect(runs).toBe(2);
});

test("singleFlight() is aborted when the last one gives up, and not before", async () => {
  const flights: Flights = new Map();
  const controllers = [new AbortController(), new AbortController()];
  let shared: AbortSignal | undefined;
  const [one, two] = controllers.map(({ signal }) =>
    singleFlight(flights, "key", {
      waiter: { signal },
      run: ({ signal: own }) => {
        shared = own;
        return new Promise<never>(() => undefined);
      },
    }),
  );
  controllers[0]?.abort();
  await expect(one).rejects.toMatchObject({ code: "CANCELLED" });
  expect(shared?.aborted).toBe(false);
  controllers[1]?.abort();
  await expect(two).rejects.toMatchObject({ code: "CANCELLED" });
  expect([shared?.aborted, flights.size]).toEqual([true, 0]);
});

test("singleFlight() gives a failure to all and forgets it", async () => {
  const flights: Flights = new Map();
  const ask = (): Promise<unknown> =>
    singleFlight(flights, "key", { waiter: {}, run: () => Promise.reject(new Error("no")) });
  const both = [ask(), ask()];
  for (const each of both) await expect(each).rejects.toThrow("no");
  expect(flights.size).toBe(0);
});
