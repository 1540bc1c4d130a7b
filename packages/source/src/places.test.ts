import { describe, expect, test } from "vitest";
import { escapePointer } from "@steps/model/value";
import { positionIn } from "./places.ts";
import { readYaml } from "./read-yaml.ts";
import { childOf, type YamlNode } from "./yaml-node.ts";

const text = "run:\n  - a/b: 1\n    c: 2\n";
const run = childOf(readYaml({ name: "test.yml", text }).documents[0], "run") as YamlNode;
const places = new Map([["/definition/steps", run]]);

describe("positionIn", () => {
  test.each([
    ["/definition/steps", 2, 3],
    ["/definition/steps/0/a~1b", 2, 10],
    ["/definition/steps/0/c", 3, 8],
    ["/definition/steps/0/none/deeper", 2, 5],
    ["/definition/steps/7", 2, 3],
  ])("finds %s in the node of the nearest part around it", (pointer, line, column) => {
    expect(positionIn(places, pointer)).toMatchObject({ line, column });
  });

  test("finds nothing for a pointer that no part is around", () => {
    expect(positionIn(places, "/definition")).toBeUndefined();
    expect(positionIn(new Map([["", run]]), "/definition")).toMatchObject({ line: 2 });
  });

  test("takes the form of protobuf, where a spec is in a spec", () => {
    expect(positionIn(new Map([["/spec/inputs", run]]), "/spec/spec/inputs/0/c")).toMatchObject({ line: 3 });
  });
});

describe("escapePointer", () => {
  test("writes ~ and / as RFC 6901 does", () => {
    expect(escapePointer("a/b~c")).toBe("a~1b~0c");
  });
});
