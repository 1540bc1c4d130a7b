import { describe, expect, test } from "vitest";
import { isStepsError, messageOf, StepsError } from "./error.ts";

class FetchError extends StepsError<"NOT_FOUND" | "TRANSPORT"> {}

describe("StepsError", () => {
  test("keeps code, cause, hint and the name of its class", () => {
    const cause = new Error("reset");
    const error = new FetchError("TRANSPORT", "Cannot fetch", { cause, hint: "Try again." });
    expect(error).toMatchObject({
      name: "FetchError",
      code: "TRANSPORT",
      message: "Cannot fetch",
      cause,
      hint: "Try again.",
    });
    expect("cause" in new FetchError("TRANSPORT", "x")).toBe(false);
    expect(Object.keys(new FetchError("TRANSPORT", "x"))).not.toContain("cause");
  });
});

describe("isStepsError()", () => {
  test("recognises ours by code, and those of another installed copy", () => {
    const foreign = Object.defineProperty(new Error("x"), Symbol.for("@steps/model/StepsError"), { value: true });
    expect(isStepsError(new FetchError("TRANSPORT", "x"))).toBe(true);
    expect(isStepsError(new FetchError("TRANSPORT", "x"), "TRANSPORT")).toBe(true);
    expect(isStepsError(new FetchError("TRANSPORT", "x"), "NOT_FOUND")).toBe(false);
    expect(isStepsError(foreign)).toBe(true);
    expect([new Error("x"), null, undefined, "x", { code: "TRANSPORT" }].some((error) => isStepsError(error))).toBe(
      false,
    );
  });
});

describe("messageOf()", () => {
  test.each<[unknown, string]>([
    [new TypeError("x"), "x"],
    ["x", "x"],
    [undefined, "undefined"],
    [Symbol("x"), "Symbol(x)"],
    [Object.create(null), "unknown error"],
  ])("of %s", (error, message) => {
    expect(messageOf(error)).toBe(message);
  });
});
