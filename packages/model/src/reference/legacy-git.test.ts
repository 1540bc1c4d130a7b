import { expect, test } from "vitest";
import { legacyReadings } from "./legacy-git.ts";

const reference = { kind: "git", version: "v1", dir: "steps" } as const;

test("moves segments from the repository to the path, one at a time", () => {
  const readings = legacyReadings({ ...reference, url: "https://host.example/g/p/a/b" });
  expect(readings.map(({ repository, path }) => [repository, path])).toEqual([
    ["https://host.example/g/p/a", "b"],
    ["https://host.example/g/p", "a/b"],
  ]);
  expect(readings[1]?.steps).toEqual([
    { ...reference, url: "https://host.example/g/p", dir: "steps/a", file: "b.yml" },
    { ...reference, url: "https://host.example/g/p", dir: "steps/a/b" },
  ]);
});

test("takes the name of a file as it is", () => {
  const [reading] = legacyReadings({ ...reference, url: "https://host.example/g/p/x.yml" });
  expect(reading?.steps).toEqual([{ ...reference, url: "https://host.example/g/p", dir: "steps", file: "x.yml" }]);
});

test.each([
  { ...reference, url: "https://host.example/g/p" },
  { ...reference, url: "https://host.example/g/p/a", dir: "steps/b" },
  { ...reference, url: "https://host.example/g/p/a", dir: "" },
  { ...reference, url: "https://host.example/g/p/a", file: "x.yml" },
  { ...reference, url: "https://host.example/g/p/../a" },
])("has no other reading of %j", (given) => {
  expect(legacyReadings(given)).toEqual([]);
});

test("ends", () => {
  expect(legacyReadings({ ...reference, url: `https://host.example/${"a/".repeat(1000)}` }).length).toBe(8);
});
