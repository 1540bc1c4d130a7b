import { expect, test } from "vitest";
import { exitCodeOf } from "./exit-code.ts";

test.each([
  [0, 0],
  [255, 255],
  [-1, -1],
  [2_147_483_647, 2_147_483_647],
  [3_221_225_477, -1_073_741_819],
  [4_294_967_295, -1],
  [4_294_967_296, 2_147_483_647],
  [-3_000_000_000, -2_147_483_648],
])("exit code %d is kept as %d", (code, kept) => {
  expect(exitCodeOf(code)).toBe(kept);
});
