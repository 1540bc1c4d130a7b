import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatIdentity, type ProcessIdentity, processIdentity } from "@steps/platform";
import { expect, test } from "vitest";
import { tempDir } from "@steps/testkit";
import { openWorkFolder } from "./work-folder.ts";

const LONG_AGO = new Date(Date.now() - 3_600_000);

test("openWorkFolder() sweeps what the dead left, by age where it cannot ask, and follows no link", async () => {
  const root = tempDir();
  const [parent, outside] = [join(root, "work"), join(root, "outside")];
  const named = (identity: Partial<ProcessIdentity>): string =>
    `${formatIdentity({ ...processIdentity(), ...identity })}.before`;
  const [alive, gone, rebooted] = [named({}), named({ startTime: "1" }), named({ boot: "other" })];
  for (const name of ["other.1.2.3", "other.1.2.4", alive, gone, rebooted]) {
    mkdirSync(join(parent, name, "content"), { recursive: true });
    writeFileSync(join(parent, name, "content", "file"), "x");
  }
  mkdirSync(outside);
  writeFileSync(join(outside, "file"), "precious");
  utimesSync(outside, LONG_AGO, LONG_AGO);
  symlinkSync(outside, join(parent, "link"));
  utimesSync(join(parent, "other.1.2.3"), LONG_AGO, LONG_AGO);
  const work = await openWorkFolder(parent);
  const kept = ["other.1.2.4", alive, rebooted, work.path.slice(parent.length + 1)];
  expect(readdirSync(parent).toSorted()).toEqual(kept.toSorted());
  expect(readdirSync(outside)).toEqual(["file"]);
  expect([await work.isElsewhere("content"), await work.isElsewhere("none")]).toEqual([true, false]);
  await work.makeDir("mine");
  expect(await work.isElsewhere("mine")).toBe(false);
  await work.close();
  expect(readdirSync(parent)).toHaveLength(3);
});
