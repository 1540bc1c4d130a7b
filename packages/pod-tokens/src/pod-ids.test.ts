import { expect, test } from "vitest";
import { DAEMON_NUMBER, idsOf, podOfId } from "./index.ts";

test("podOfId() tells the pod that made an id, up to the last id of pod 9000 and to the daemon's behind it", () => {
  for (const pod of [1, 2, 9000, DAEMON_NUMBER]) expect(idsOf(pod).map(podOfId)).toEqual([pod, pod]);
  expect(idsOf(1)).toEqual([1, 1_000_000_000_000]);
  expect(idsOf(DAEMON_NUMBER).every(Number.isSafeInteger)).toBe(true);
});
