import type { Value } from "@steps/model";

/** Contexts with a value of every kind, for tests of expressions. */
export const contexts = {
  github: {
    ref: "refs/heads/main",
    Event_Name: "push",
    event: { labels: [{ name: "bug" }, { name: "Good" }, { id: 3 }] as Value[], number: 7, draft: false, body: null },
  },
  env: { FOO: "upper", foo: "lower" },
  inputs: { flag: "true", empty: "", "with-hyphen": "h", zero: "0" },
  steps: { a: { outputs: { "cache-hit": "true", n: "12" }, outcome: "success" }, b: { outputs: { n: "13" } } },
  matrix: { os: "linux", list: [1, 2, 3], nested: [[1, 2], [3]], obj: { x: 1, y: { z: 2 } }, none: [], blank: {} },
  strategy: null,
};
