import { isSensitive, reveal, type RuntimeValue, sensitive } from "@steps/model";
import { describe, expect, test } from "vitest";
import { createScope, expand, ExpressionError } from "./index.ts";
import { showMarks } from "../test/show-marks.ts";

const scope = createScope({
  secret: sensitive("hunter2"),
  digit: sensitive(7),
  empty: sensitive(""),
  key: sensitive("a"),
  whole: sensitive({ a: 1, b: { c: 2 } }),
  mixed: { open: "o", token: sensitive("t"), list: [1, sensitive(2)] },
  plain: "p",
  dict: { a: 1, secret: 2 },
  list: [10, 20],
  index: sensitive(1),
});

const value = (text: string): RuntimeValue => expand(text, scope);

describe("marks (6.9)", () => {
  test.each<[string, RuntimeValue]>([
    ["secret", sensitive("hunter2")],
    ["secret + plain", sensitive("hunter2p")],
    ["plain + secret", sensitive("phunter2")],
    ["digit * 2 - 1", sensitive(13)],
    ["digit / 7", sensitive(1)],
    ["digit % 4", sensitive(3)],
    ["-digit", sensitive(-7)],
    ["digit < 9", sensitive(true)],
    ["secret == 'x'", sensitive(false)],
    ["secret != 'x'", sensitive(true)],
    ["mixed == 1", sensitive(false)],
    ["[secret] == []", sensitive(false)],
    ["!secret", sensitive(false)],
    ["!!empty", sensitive(false)],
    ["str(secret)", sensitive("hunter2")],
    ["len(secret)", sensitive(7)],
    ["upper(secret)", sensitive("HUNTER2")],
    ["split(secret, 'n')", sensitive(["hu", "ter2"])],
    ["join(['a', secret], '-')", sensitive("a-hunter2")],
    ["replace('a', 'a', secret)", sensitive("hunter2")],
    ["toJson(mixed.list)", sensitive("[1,2]")],
    ['"a ${{ secret }}"', sensitive("a hunter2")],
    ['"a ${{ mixed.list }}"', sensitive("a [1,2]")],
  ])("%s is marked by its operands", (expression, wanted) => {
    expect(showMarks(value(`\${{ ${expression} }}`))).toEqual(showMarks(wanted));
  });

  test.each<[string, boolean, unknown]>([
    ["plain || secret", false, "p"],
    ["secret || plain", true, "hunter2"],
    ["empty || plain", true, "p"],
    ["secret && plain", true, "p"],
    ["plain && secret", true, "hunter2"],
    ["'' && secret", false, ""],
    ["plain && (empty || 'x')", true, "x"],
    ["false || empty || plain", true, "p"],
  ])("%s has the marks of what was tested and returned", (expression, isMarked, wanted) => {
    const result = value(`\${{ ${expression} }}`);
    expect([isSensitive(result), reveal(result)]).toEqual([isMarked, wanted]);
  });

  test.each<[string, boolean, unknown]>([
    ["mixed.open", false, "o"],
    ["mixed.token", true, "t"],
    ["mixed.list[0]", false, 1],
    ["mixed.list[1]", true, 2],
    ["whole.a", true, 1],
    ["whole.b.c", true, 2],
    ["dict[key]", true, 1],
    ["list[index]", true, 20],
    ["{a: secret, b: 1}.b", false, 1],
    ["{a: secret, b: 1}.a", true, "hunter2"],
    ["[secret, 1][1]", false, 1],
    ["{(secret): 1}", true, { hunter2: 1 }],
    ["{(secret): 1, b: 2}.b", true, 2],
    ["get(mixed, 'open')", false, "o"],
    ["get(mixed, 'token')", true, "t"],
    ["get(mixed, 'none', 'd')", false, "d"],
    ["get(whole, 'none', 'd')", true, "d"],
    ["get(dict, secret, 'd')", true, "d"],
    ["has(mixed, 'open')", false, true],
    ["has(whole, 'a')", true, true],
    ["has(dict, key)", true, true],
    ["values(mixed)[0]", false, "o"],
    ["values(mixed)[1]", true, "t"],
  ])("%s has the marks of the element, the container and the key", (expression, isMarked, wanted) => {
    const result = value(`\${{ ${expression} }}`);
    expect([isSensitive(result), reveal(result)]).toEqual([isMarked, wanted]);
  });

  test("a literal is marked part by part, its text as a whole", () => {
    expect(showMarks(value("${{ [plain, secret] }}"))).toEqual(["p", { $sensitive: "hunter2" }]);
    expect(showMarks(value("<${{ [plain, secret] }}>"))).toEqual({ $sensitive: '<["p","hunter2"]>' });
    expect(value("<${{ plain }}>")).toBe("<p>");
  });

  test("errors do not show what is marked", () => {
    for (const expression of [
      "secret + 1",
      "secret.x",
      "dict[secret]",
      "list[digit]",
      "list[secret]",
      "whole.missing",
      "whole[secret]",
      "num(secret)",
      "fromJson(secret)",
      "{(digit): 1}",
      "digit()",
      "-secret",
      "split(secret, '')",
      "get(secret, 'a')",
    ]) {
      let error: unknown;
      try {
        value(`\${{ ${expression} }}`);
      } catch (thrown) {
        error = thrown;
      }
      expect(error, expression).toBeInstanceOf(ExpressionError);
      const { message, hint, cause } = error as ExpressionError;
      expect([expression, `${message} ${hint} ${String(cause)}`]).toEqual([
        expression,
        expect.not.stringMatching(/hunter2|\b7\b|known keys: a/i),
      ]);
    }
  });
});
