import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseChallenges } from "./challenge.ts";

test.each<[string | null, unknown]>([
  [null, []],
  ["", []],
  ["Basic realm=x", [{ scheme: "basic", parameters: { realm: "x" } }]],
  [
    'Bearer realm="https://h/token",service="a, b",scope="repository:x:pull,push"',
    [{ scheme: "bearer", parameters: { realm: "https://h/token", service: "a, b", scope: "repository:x:pull,push" } }],
  ],
  [
    'Basic realm="a \\"b\\"" , BEARER Realm = "c"',
    [
      { scheme: "basic", parameters: { realm: 'a "b"' } },
      { scheme: "bearer", parameters: { realm: "c" } },
    ],
  ],
  ['Bearer realm="a", realm="b"', [{ scheme: "bearer", parameters: { realm: "a" } }]],
  [
    "Negotiate, Basic",
    [
      { scheme: "negotiate", parameters: {} },
      { scheme: "basic", parameters: {} },
    ],
  ],
])("parseChallenges(%j)", (header, expected) => {
  expect(parseChallenges(header).map(({ scheme, parameters }) => ({ scheme, parameters: { ...parameters } }))).toEqual(
    expected,
  );
});

test("parseChallenges() takes any text", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('"', "\\", "=", ",", " ", "a", "Bearer", "realm", "__proto__"), { maxLength: 200 }),
      (parts) => {
        for (const { scheme } of parseChallenges(parts.join(""))) expect(scheme).toBe(scheme.toLowerCase());
      },
    ),
  );
});
