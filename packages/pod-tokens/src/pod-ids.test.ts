import { expect, test } from "vitest";
import { IDS_PER_POD, podOfId } from "./index.ts";

test("podOfId() tells the pod that made an id, up to the last id of pod 9000", () => {
  expect([1, IDS_PER_POD, IDS_PER_POD + 1].map(podOfId)).toEqual([1, 1, 2]);
  expect(podOfId(9000 * IDS_PER_POD)).toBe(9000);
  expect(Number.isSafeInteger(9000 * IDS_PER_POD)).toBe(true);
});
