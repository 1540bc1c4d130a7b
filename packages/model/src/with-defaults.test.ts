import { describe, expect, test } from "vitest";
import { withDefaults } from "./with-defaults.ts";

describe("withDefaults()", () => {
  const defaults = { size: 4, count: 2 };

  test("keeps the default of what is not given, or given as undefined", () => {
    expect(withDefaults(defaults, undefined)).toStrictEqual(defaults);
    expect(withDefaults(defaults, { size: undefined, count: 0 })).toStrictEqual({ size: 4, count: 0 });
  });

  test("leaves out what has no default and is undefined", () => {
    expect(withDefaults(defaults, { more: undefined, other: "x" })).toStrictEqual({ size: 4, count: 2, other: "x" });
  });
});
