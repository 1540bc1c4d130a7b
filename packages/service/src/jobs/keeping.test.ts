import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownerOf } from "@steps/engine/runs";
import { tempDir } from "@steps/testkit";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createClock } from "./clock.ts";
import { decodeJobRecord, encodeJobRecord, type JobRecord } from "./job-record.ts";
import { lockState } from "./state-lock.ts";
import { Tombstones } from "./tombstones.ts";
import { Wakeup } from "./wakeup.ts";

describe("Tombstones", () => {
  const buried = (n: number) => ({ id: `id ${n}`, requestDigest: "d", serial: `s${n}` });

  test("are known to the next service, whatever happened to the last line", () => {
    const path = join(tempDir(), "tombstones");
    const first = new Tombstones(path);
    first.add(buried(1));
    writeFileSync(path, `${readFileSync(path, "utf8")}\n{"key":"half`);
    new Tombstones(path).add(buried(2));
    const last = new Tombstones(path);
    expect([last.has("id 1", "d"), last.has("id 2", "d"), last.has("id 1", "e")]).toEqual([true, true, false]);
    expect([...last.serials()]).toEqual(["s1", "s2"]);
  });

  test("of a day ago are forgotten, and never more than ten thousand are kept, nor twice as many lines", () => {
    const path = join(tempDir(), "tombstones");
    writeFileSync(path, `\n${JSON.stringify({ key: "old", serial: "old", at: Date.now() - 25 * 3_600_000 })}`);
    const tombstones = new Tombstones(path);
    expect(tombstones.serials().size).toBe(0);
    for (let n = 0; n < 20_005; n++) tombstones.add(buried(n));
    expect(tombstones.serials().size).toBe(10_000);
    expect([tombstones.has("id 10004", "d"), tombstones.has("id 10005", "d")]).toEqual([false, true]);
    expect(readFileSync(path, "utf8").split("\n").length).toBeLessThan(20_002);
    expect(new Tombstones(path).has("id 20004", "d")).toBe(true);
  });
});

describe("lockState()", () => {
  test("takes the place of a dead owner, and of what is no owner, never of a living one", () => {
    const dir = tempDir();
    const owner = join(dir, "owner");
    // The number of a living process, but not its time of start.
    for (const dead of ["", "garbage", "-1 0 x", `${process.pid} 0 another-boot`, "999999999 1 1"]) {
      writeFileSync(owner, dead);
      lockState(dir)();
      expect(existsSync(owner)).toBe(false);
    }
    const unlock = lockState(dir);
    expect(readFileSync(owner, "utf8")).toBe(ownerOf(process.pid));
    expect(() => lockState(dir)).toThrow(expect.objectContaining({ code: "STATE_IN_USE" }));
    unlock();
    expect(readdirSync(dir)).toEqual([]);
  });
});

describe("job records", () => {
  const records: fc.Arbitrary<JobRecord> = fc.record(
    {
      id: fc.string({ unit: "binary" }),
      serial: fc.string(),
      requestDigest: fc.string(),
      tokenDigest: fc.string(),
      status: fc.constantFrom("success" as const, "interrupted" as const, "timeout" as const),
      startedAt: fc.maxSafeNat(),
      finishedAt: fc.maxSafeNat(),
      exitCode: fc.nat(255),
      error: fc.record({ code: fc.string(), message: fc.string() }),
      log: fc.record({ records: fc.nat(), stdoutBytes: fc.maxSafeNat(), stderrBytes: fc.maxSafeNat() }),
      journalRoot: fc.string(),
    },
    { requiredKeys: ["id", "serial", "requestDigest", "status", "startedAt", "finishedAt", "exitCode", "log"] },
  );

  test("come back as they were written, and not at all if they were cut off", () => {
    fc.assert(
      fc.property(records, fc.nat(), (record, cut) => {
        const text = encodeJobRecord(record);
        expect(decodeJobRecord(text)).toEqual(record);
        expect(decodeJobRecord(text.slice(0, cut % (text.length - 1)))).toBeUndefined();
      }),
    );
  });

  test("with anything else in them are no records", () => {
    const good: JobRecord = {
      id: "a",
      serial: "s",
      requestDigest: "d",
      status: "running",
      startedAt: 1,
      log: { records: 0, stdoutBytes: 0, stderrBytes: 0 },
    };
    expect(decodeJobRecord(encodeJobRecord(good))).toEqual(good);
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(good)), fc.jsonValue(), (member, value) => {
        const text = JSON.stringify({ version: 1, ...good, [member]: value });
        const decoded = decodeJobRecord(text);
        if (decoded !== undefined) expect(typeof value).toBe(typeof good[member as keyof JobRecord]);
      }),
    );
    for (const text of ["", "null", "[]", "1", '{"version":2}', JSON.stringify({ ...good, version: 2 })]) {
      expect(decodeJobRecord(text)).toBeUndefined();
    }
    // A job that ended says when and how.
    expect(decodeJobRecord(encodeJobRecord({ ...good, status: "success" }))).toBeUndefined();
  });
});

describe("Wakeup", () => {
  test("wakes all who wait once for many news, and who is aborted at once", async () => {
    const wakeup = new Wakeup();
    const never = new AbortController().signal;
    const stop = new AbortController();
    let woken = 0;
    const waits = [1, 2, 3].map(async () => {
      await wakeup.wait(never);
      woken += 1;
    });
    const aborted = wakeup.wait(stop.signal);
    expect(wakeup.size).toBe(4);
    stop.abort();
    await aborted;
    expect([wakeup.size, woken]).toEqual([3, 0]);
    wakeup.notify();
    wakeup.notify();
    await Promise.all(waits);
    expect([wakeup.size, woken]).toEqual([0, 3]);
    await wakeup.wait(stop.signal);
  });
});

test("the clock is the wall clock, finer, and does not stand still", () => {
  const clock = createClock();
  const before = Date.now() * 1000;
  const times = Array.from({ length: 1000 }, clock);
  expect(times[0]).toBeGreaterThanOrEqual(before);
  expect(times.at(-1)).toBeLessThan(Date.now() * 1000 + 20_000);
  expect(times.every((time, index) => Number.isSafeInteger(time) && time >= (times[index - 1] ?? 0))).toBe(true);
});
