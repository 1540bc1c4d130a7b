import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EngineError } from "../engine-error.ts";
import { formatLock, type LockedComponent, lockedOf, parseLock } from "./lock.ts";

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom("0", "1", "9", "a", "c", "f"), minLength: length, maxLength: length });

const component: fc.Arbitrary<LockedComponent> = fc.oneof(
  fc.record({
    kind: fc.constant("git" as const),
    location: fc.webUrl(),
    version: fc.string(),
    resolved: fc.oneof(hex(40), hex(64)),
    gitTree: hex(64),
  }),
  fc.record({
    kind: fc.constantFrom("zip" as const, "oci" as const),
    location: fc.webUrl(),
    version: fc.string(),
    resolved: hex(64).map((digest) => `sha256:${digest}`),
  }),
);

describe("a lock", () => {
  test("is read as it was written, whatever the order, and each component once", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(component, { selector: (item) => JSON.stringify([item.kind, item.location, item.version]) }),
        (items) => {
          const text = formatLock(items);
          expect(formatLock([...items.toReversed(), ...items])).toBe(text);
          const read = parseLock("steps.lock", text).components;
          expect(read.toSorted(compare)).toEqual(items.toSorted(compare));
        },
      ),
    );
  });

  test("refuses every other text with an error that names it", () => {
    const broken = fc.oneof(
      fc.string(),
      fc.json(),
      fc.jsonValue().map((value) => JSON.stringify({ lockVersion: 1, components: value })),
      fc.jsonValue().map((value) => JSON.stringify({ lockVersion: 1, components: [value] })),
      fc.jsonValue().map((value) => JSON.stringify({ lockVersion: value, components: [] })),
    );
    fc.assert(
      fc.property(broken, (text) => {
        try {
          expect(parseLock("my.lock", text).components.length).toBe(0);
        } catch (error) {
          expect(error).toBeInstanceOf(EngineError);
          expect((error as EngineError).message).toContain('"my.lock"');
        }
      }),
    );
  });

  test("does not name what is on this machine only", () => {
    const base = { requestedVersion: "", resolvedVersion: "", isMutable: true };
    const digest = { sha256: "a".repeat(64), gitTree: "b".repeat(64) };
    expect(lockedOf({ ...base, kind: "local", uri: "/x", digest })).toBeUndefined();
    expect(lockedOf({ ...base, kind: "zip", uri: "/x.zip", digest })).toBeUndefined();
    expect(lockedOf({ ...base, kind: "zip", uri: "https://u:p@host/x.zip", digest })).toEqual({
      kind: "zip",
      location: "https://host/x.zip",
      version: "",
      resolved: `sha256:${digest.sha256}`,
      gitTree: digest.gitTree,
    });
  });
});

function compare(a: LockedComponent, b: LockedComponent): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}
