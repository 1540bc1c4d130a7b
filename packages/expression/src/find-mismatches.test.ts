import { expect, test } from "vitest";
import { findMismatches } from "./find-mismatches.ts";

const shown = (text: string): string[] =>
  findMismatches(text).map(
    ({ operator, left, right, offset, length }) =>
      `${left} ${operator} ${right} at ${text.slice(offset, offset + length)}`,
  );

test.each([
  ['${{ 1 == "1" }}', ['number == string at 1 == "1"']],
  ["a ${{ true != 'true' }} b ${{ null < 0 }}", ["boolean != string at true != 'true'", "null < number at null < 0"]],
  ["${{ vars.COUNT > 3 }}", ["string > number at vars.COUNT > 3"]],
  ['${{ env["CI"] == true && inputs.x == 1 }}', ['string == boolean at env["CI"] == true']],
  ["${{ steps.a.status == 0 }}", ["string == number at steps.a.status == 0"]],
  ["${{ [1 == '1', {a: (2 == '2')}] }}", ["number == string at 1 == '1'", "number == string at 2 == '2'"]],
  ['${{ len("${{ 1 == null }}") < "x" }}', ["number == null at 1 == null", 'number < string at len("${{ 1 == null }}") < "x"']],
  ["${{ 1 + 1 == '2' }}", ["number == string at 1 + 1 == '2'"]],
  ["${{ !inputs.x == 'a' }}", ["boolean == string at !inputs.x == 'a'"]],
  ["${{ 1 < 2 == 3 }}", ["boolean == number at 1 < 2 == 3"]],
  ["${{ [] == {} }}", ["array == object at [] == {}"]],
])("%s is never what it says", (text, mismatches) => {
  expect(shown(text)).toEqual(mismatches);
}); // prettier-ignore

test.each([
  "${{ 1 == 2 }}",
  "${{ vars.X == '1' }}",
  "${{ inputs.x == null }}",
  "${{ steps.a.outputs.x == 1 }}",
  "${{ job.x == 1 }}",
  "${{ (vars.A || 1) == 1 }}",
  "${{ num(vars.COUNT) > 3 }}",
  "${{ steps.a-b.status }}",
  "${{ 1 == }}",
  "no expression",
])("%s may be", (text) => {
  expect(findMismatches(text)).toEqual([]);
});

test("a hundred are enough", () => {
  expect(findMismatches(`\${{ [${"1=='1',".repeat(500)}] }}`)).toHaveLength(100);
});
