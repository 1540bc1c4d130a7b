import type { Value } from "@steps/model";
import { describe, expect, test } from "vitest";
import { evaluateTemplate } from "./evaluate.ts";
import { contexts } from "../../test/contexts.ts";

/** Each row: an expression and its value. */
const rows: readonly (readonly [expression: string, value: Value])[] = [
  // contains, startsWith, endsWith
  ["contains('Hello', 'ELL')", true],
  ["contains('Hello', '')", true],
  ["contains('', '')", true],
  ["contains('', 'a')", false],
  ["contains('abc', 'abcd')", false],
  ["contains(123, 2)", true],
  ["contains(true, 'RU')", true],
  ["contains(null, '')", true],
  ["contains('straße', 'SS')", false],
  ["contains('aİb', 'İ')", true],
  ["contains('abc', matrix.list)", false],
  ["contains(matrix.list, 2)", true],
  ["contains(matrix.list, '2')", true],
  ["contains(matrix.list, 4)", false],
  ["contains(matrix.list, true)", true],
  ["contains(matrix.none, '')", false],
  ["contains(matrix.obj, 'x')", false],
  ['contains(fromJSON(\'["Push","tag"]\'), github.event_name)', true],
  ["contains(matrix.nested, matrix.nested[0])", true],
  ["contains(matrix.nested, fromJSON('[1,2]'))", false],
  ["CONTAINS('a', 'A')", true],
  ["startsWith(github.ref, 'REFS/')", true],
  ["startsWith(github.ref, 'heads')", false],
  ["startsWith('ab', 'abc')", false],
  ["startsWith('ab', '')", true],
  ["startsWith(123, 12)", true],
  ["startsWith(matrix.list, '')", false],
  ["startsWith('', matrix.list)", false],
  ["startsWith('ßa', 'S')", false],
  ["startsWith(null, null)", true],
  ["endsWith(github.ref, 'MAIN')", true],
  ["endsWith('ab', 'a')", false],
  ["endsWith('ab', 'cab')", false],
  ["endsWith('ab', '')", true],
  ["endsWith(123, 23)", true],
  ["endsWith(matrix.obj, 't')", false],

  // format
  ["format('a')", "a"],
  ["format('')", ""],
  ["format('{0}', 'x')", "x"],
  ["format('{0}{1}{0}', 'x', 'y')", "xyx"],
  ["format('{0:}', 'x')", "x"],
  ["format('{{0}}', 'x')", "{0}"],
  ["format('{{{0}}}', 'x')", "{x}"],
  ["format('{{')", "{"],
  ["format('}}')", "}"],
  ["format('a{{b}}c')", "a{b}c"],
  ["format('{00}', 'x')", "x"],
  ["format('{1}', 'x', 'y')", "y"],
  ["format('{0}', null)", ""],
  ["format('{0}', true)", "true"],
  ["format('{0}', false)", "false"],
  ["format('{0}', 1.50)", "1.5"],
  ["format('{0}', matrix.obj)", "Object"],
  ["format('{0}', matrix.none)", "Array"],
  ["format('{0}', '{1}')", "{1}"],
  ["format(1)", "1"],
  ["format('no', 1, 2)", "no"],

  // join
  ["join(matrix.list)", "1,2,3"],
  ["join(matrix.list, '')", "123"],
  ["join(matrix.list, ', ')", "1, 2, 3"],
  ["join(matrix.list, null)", "123"],
  ["join(matrix.list, 0)", "10203"],
  ["join(matrix.list, matrix.obj)", "1,2,3"],
  ["join(matrix.none, '-')", ""],
  ["join(matrix.obj, '-')", ""],
  ["join(matrix.nested)", "Array,Array"],
  ["join(fromJSON('[null,true,\"a\",{}]'))", ",true,a,Object"],
  ["join('abc', '-')", "abc"],
  ["join(1)", "1"],
  ["join(null)", ""],

  // toJSON, fromJSON
  ["toJSON(null)", "null"],
  ["toJSON(true)", "true"],
  ["toJSON(-0)", "0"],
  ["toJSON(1.50)", "1.5"],
  ["toJSON(NaN)", "NaN"],
  ["toJSON(Infinity)", "Infinity"],
  ["toJSON('')", '""'],
  ["toJSON('a\"b\\c')", '"a\\"b\\\\c"'],
  ["toJSON('a\nb\tc')", '"a\\nb\\tc"'],
  ["toJSON('\u2028\u0085')", '"\\u2028\\u0085"'],
  ["toJSON('é')", '"é"'],
  ["toJSON(matrix.none)", "[]"],
  ["toJSON(matrix.blank)", "{}"],
  ["toJSON(matrix.obj)", '{\n  "x": 1,\n  "y": {\n    "z": 2\n  }\n}'],
  ["toJSON(matrix.nested)", "[\n  [\n    1,\n    2\n  ],\n  [\n    3\n  ]\n]"],
  ["tojson(fromjson('[[],{}]'))", "[\n  [],\n  {}\n]"],
  ["fromJSON('null')", null],
  ["fromJSON('true')", true],
  ["fromJSON(' 1 ')", 1],
  ["fromJSON('\"a\"')", "a"],
  ["fromJSON('[1,\"a\",null]')", [1, "a", null]],
  ["fromJSON(true)", true],
  ["fromJSON(7)", 7],
  ['fromJSON(\'{"a":{"B":1}}\').A.b', 1],
  ['fromJSON(\'{"A":1,"a":2}\').a', 2],
  ['fromJSON(\'{"A":1,"a":2}\').A', 2],
  ['toJSON(fromJSON(\'{"A":1,"a":2}\'))', '{\n  "A": 2\n}'],
  ["fromJSON(toJSON(matrix.list))[1]", 2],

  // case: evaluated as far as it has to be
  ["case(true, 'a', 'b')", "a"],
  ["case(false, 'a', 'b')", "b"],
  ["case(false, 1, true, 2, 3)", 2],
  ["case(github.ref == 'x', 1, startsWith(github.ref, 'refs'), 2, 3)", 2],
  ["case(true, 'a', fromJSON(''))", "a"],
  ["case(false, fromJSON(''), 'b')", "b"],
  ["case(true, 'a', 'no boolean', 'b', 'c')", "a"],
  ["Case(true, matrix.list, 1)[2]", 3],
];

describe("functions", () => {
  test.each(rows)("%s", (expression, value) => {
    expect(evaluateTemplate(`\${{ ${expression} }}`, { contexts })).toEqual(value);
  });

  test("has a table of some size", () => {
    expect(rows.length).toBeGreaterThan(90);
  });
});
