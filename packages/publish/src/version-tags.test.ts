import * as fc from "fast-check";
import { expect, test } from "vitest";
import { tagsOf } from "./version-tags.ts";

const anyNumber = fc.integer({ min: 0, max: 12 });
const anyVersion = fc.tuple(anyNumber, anyNumber, anyNumber).map((parts) => parts.join("."));

test("tagsOf() gives each tag to the newest version that it stands for, whatever the order of publishing", () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyVersion, { minLength: 1, maxLength: 30 }), (versions) => {
      const tags = new Map<string, string>();
      for (const version of versions) for (const tag of tagsOf(version, tags.keys())) tags.set(tag, version);
      const newest = (prefix: string): string | undefined =>
        versions
          .filter((version) => prefix === "latest" || version === prefix || version.startsWith(`${prefix}.`))
          .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))
          .at(-1);
      for (const [tag, version] of tags) expect([tag, version]).toEqual([tag, newest(tag)]);
      expect(tags.has("latest")).toBe(true);
    }),
  );
});

test("tagsOf() leaves the tags of releases alone for a pre-release, and does not count pre-releases", () => {
  expect(tagsOf("2.0.0-rc.1", ["1.0.0"])).toEqual(["2.0.0-rc.1"]);
  expect(tagsOf("1.0.1", ["1.0.0", "1.1.0-rc.1", "2.0.0-rc.1", "latest", "nightly"])).toEqual([
    "1.0.1",
    "1.0",
    "1",
    "latest",
  ]);
});

test.each(["v1.0.0", "1.0", "1.0.0+x", "01.0.0", "1.0.0-", "1.0.0.0", "", "1.0.0-a..b", "1.0.0\n"])(
  "tagsOf() refuses %j",
  (version) => {
    expect(() => tagsOf(version, [])).toThrow("no semantic version");
  },
);
