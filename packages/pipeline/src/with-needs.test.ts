import { expect, test } from "vitest";
import { withNeeds } from "./with-needs.ts";

test("withNeeds() takes what is wanted and all that it needs, in the order of the list", () => {
  const jobs = [
    { id: "d", needs: ["c", "gone"] },
    { id: "a", needs: [] },
    { id: "b", needs: ["a"] },
    { id: "c", needs: ["b", "a"] },
    { id: "e", needs: ["a"] },
  ];
  const chosen = (...ids: string[]): string[] => withNeeds(jobs, ({ id }) => ids.includes(id)).map(({ id }) => id);
  expect(chosen("c")).toEqual(["a", "b", "c"]);
  expect(chosen("d", "e")).toEqual(["d", "a", "b", "c", "e"]);
  expect(chosen()).toEqual([]);
});
