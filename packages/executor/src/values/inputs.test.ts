import { Sensitive, sensitive, type Value, type ValueType } from "@steps/model";
import type { InputSpec, Spec } from "@steps/model/definition";
import { describe, expect, test } from "vitest";
import { coerce } from "./coerce.ts";
import { resolveInputs } from "./inputs.ts";

const spec = (type: ValueType, rest: Partial<InputSpec> = {}): Spec => ({
  inputs: { x: { type, isSensitive: false, ...rest } },
  outputs: {},
});
const resolve = async (value: Value, wanted: Spec) => (await resolveInputs({ x: value }, wanted))["x"];

describe("coerce()", () => {
  test.each<[Value, ValueType, Value | undefined]>([
    [1, "string", "1"],
    [1e21, "string", "1e+21"],
    [true, "string", "true"],
    [null, "string", undefined],
    [[], "string", undefined],
    ["1.5e3", "number", 1500],
    ["-0.5", "number", -0.5],
    ["01", "number", undefined],
    ["0x10", "number", undefined],
    ["", "number", undefined],
    ["1e999", "number", undefined],
    ["Infinity", "number", undefined],
    [true, "number", undefined],
    ["true", "boolean", true],
    ["false", "boolean", false],
    ["True", "boolean", undefined],
    [1, "boolean", undefined],
    ["[]", "array", undefined],
    [{}, "array", undefined],
  ])("makes of %j as %s: %j", (value, type, wanted) => {
    expect(coerce(value, type)).toEqual(wanted);
  });

  test("reads lists and objects from text where it was asked to", () => {
    expect(coerce('{"a":[1]}', "struct", { allowJsonText: true })).toEqual({ a: [1] });
    expect(coerce('{"a":[1]}', "array", { allowJsonText: true })).toBeUndefined();
    expect(coerce("{", "struct", { allowJsonText: true })).toBeUndefined();
  });

  test("keeps marks", () => {
    const coerced = coerce(sensitive("42"), "number");
    expect(coerced).toBeInstanceOf(Sensitive);
    expect((coerced as Sensitive).value).toBe(42);
  });
});

describe("resolveInputs()", () => {
  test("names every value of another type", async () => {
    await expect(resolve([1], spec("string"))).rejects.toThrow('input "x": declared as "string", received "array"');
  });

  test("lets null pass where the default is null", async () => {
    expect(await resolve(null, spec("string", { default: null }))).toBe(null);
    await expect(resolve(null, spec("string", { default: "d" }))).rejects.toThrow('received "null"');
  });

  test("compares options deeply, once the value has its type", async () => {
    expect(await resolve({ b: 2, a: 1 }, spec("struct", { options: [{ a: 1, b: 2 }] }))).toEqual({ a: 1, b: 2 });
    expect(await resolve("2", spec("number", { options: [1, 2] }))).toBe(2);
    await expect(resolve("c", spec("string", { options: ["a", "b"] }))).rejects.toThrow(
      'input "x": "c" is not one of "a", "b"',
    );
  });

  test("matches patterns anywhere in the text", async () => {
    expect(await resolve("v1.2", spec("string", { match: "[0-9]+\\.[0-9]+" }))).toBe("v1.2");
    await expect(resolve("v1.2", spec("string", { match: "^[0-9]" }))).rejects.toThrow(
      '"v1.2" does not match "^[0-9]"',
    );
    await expect(resolve("x", spec("string", { match: "(x)\\1" }))).rejects.toThrow("invalid escape sequence");
  });

  test("does not show what is sensitive", async () => {
    const wanted = spec("string", { isSensitive: true, options: ["a"] });
    await expect(resolve("s3cret", wanted)).rejects.toThrow('input "x": [MASKED] is not one of "a"');
  });
});
