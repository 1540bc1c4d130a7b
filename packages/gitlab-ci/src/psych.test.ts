import { readYaml } from "@steps/source";
import { describe, expect, test } from "vitest";
import { readPsychScalar } from "./psych.ts";

function read(text: string): string {
  const { documents } = readYaml({ name: "x.yml", text: `- ${text}` });
  const [list] = documents;
  const scalar = list?.kind === "list" ? list.items[0] : undefined;
  if (scalar?.kind !== "scalar") throw new Error(`No scalar: ${text}`);
  const result = readPsychScalar(scalar);
  return `${result.kind} ${result.text}`;
}

describe("readPsychScalar", () => {
  test.each([
    ["", "null "],
    ["~", "null "],
    ["Null", "null "],
    ["yes", "boolean true"],
    ["ON", "boolean true"],
    ["off", "boolean false"],
    ["y", "string y"],
    ["'yes'", "string yes"],
    ["12", "integer 12"],
    ["+7", "integer 7"],
    ["-0", "integer 0"],
    ["010", "integer 8"],
    ["08", "string 08"],
    ["0o17", "string 0o17"],
    ["0x1F", "integer 31"],
    ["0b101", "integer 5"],
    ["-0x10", "integer -16"],
    ["1_000", "integer 1000"],
    ["1,000", "integer 1000"],
    ["123456789012345678901", "integer 123456789012345678901"],
    ["22:30", "integer 81000"],
    ["1:02:03", "integer 3723"],
    ["1.0", "float 1.0"],
    ["1.10", "float 1.1"],
    ["-.5", "float -0.5"],
    ["1.5e+3", "float 1500.0"],
    ["1.0e+20", "float 1.0e+20"],
    ["0.00001", "float 1.0e-05"],
    ["1e3", "string 1e3"],
    [".", "string ."],
    [".inf", "float Infinity"],
    ["-.Inf", "float -Infinity"],
    ["1.2.3", "string 1.2.3"],
    ["v1", "string v1"],
    ["2026-11-21", "date 2026-11-21"],
    ["2026-11-21 10:00:00 Z", "date 2026-11-21 10:00:00 Z"],
    ['"2026-11-21"', "string 2026-11-21"],
    ["!!str 010", "string 010"],
    ["a b", "string a b"],
  ])("reads %j as %s", (text, expected) => {
    expect(read(text)).toBe(expected);
  });
});
