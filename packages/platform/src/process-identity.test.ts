import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { formatIdentity, livenessOf, parseIdentity, processIdentity } from "./process-identity.ts";

test("livenessOf() knows itself, the dead, and whom it cannot see", () => {
  const self = processIdentity();
  expect(parseIdentity(`${formatIdentity(self)}.more`)).toEqual(self);
  expect(["", "a.b.c.d.e", "a.b.-1.d.e"].map(parseIdentity)).toEqual([undefined, undefined, undefined]);
  expect(livenessOf(self)).toBe("alive");
  expect(livenessOf({ ...self, startTime: "1" })).toBe("gone");
  expect(livenessOf({ ...self, pid: spawnSync(process.execPath, ["-e", ""]).pid })).toBe("gone");
  expect(livenessOf({ ...self, boot: "other" })).toBe("gone");
  expect(livenessOf({ ...self, namespace: "1" })).toBe("unknown");
  expect(livenessOf({ ...self, boot: "other", host: "other" })).toBe("unknown");
});
