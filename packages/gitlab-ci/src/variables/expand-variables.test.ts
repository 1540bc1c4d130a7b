import { describe, expect, test } from "vitest";
import { expandVariables, type RawVariable } from "./expand-variables.ts";

function expand(variables: Record<string, string>, raw: readonly string[] = []): Record<string, string> {
  const declared = Object.entries(variables).map(
    ([name, value]) => [name, { value, isRaw: raw.includes(name) }] as const,
  );
  return { ...expandVariables(new Map(declared)).values };
}

describe("expandVariables", () => {
  test("expands what is referred to first, in any order of the file", () => {
    expect(expand({ C: "$B!", B: "${A}b", A: "a" })).toEqual({ A: "a", B: "ab", C: "ab!" });
  });

  test("makes an unknown name empty", () => {
    expect(expand({ A: "<$NOPE><${NOPE}><${NOPE:-default}>" })).toEqual({ A: "<><><>" });
  });

  test("makes a doubled dollar one, once", () => {
    expect(expand({ A: "$$B", B: "b", C: "${A}" })).toEqual({ A: "$B", B: "b", C: "$B" });
    expect(expand({ A: "$$$$" })).toEqual({ A: "$$" });
  });

  test("drops what only a shell knows and keeps a lone dollar", () => {
    expect(expand({ A: "<$1$@$?$*>", B: "cost: $ 5", C: "5$" })).toEqual({ A: "<>", B: "cost: $ 5", C: "5$" });
  });

  test("expands %NAME% for a variable only", () => {
    expect(expand({ A: "a", B: "%A%", C: "+%Y%m%d" })).toEqual({ A: "a", B: "a", C: "+%Y%m%d" });
  });

  test("takes a raw value as it stands, also where it is referred to", () => {
    expect(expand({ A: "$B $$", B: "b", C: "<$A>" }, ["A"])).toEqual({ A: "$B $$", B: "b", C: "<$B $$>" });
  });

  test("leaves expressions alone", () => {
    const A = 'greeting: "hello ${{ env.name }}" $B ${{ "$B" }} ${{';
    expect(expand({ A, B: "b" })["A"]).toBe('greeting: "hello ${{ env.name }}" b ${{ "$B" }} ${{');
  });

  test("drops braces that nothing closes", () => {
    expect(expand({ A: "a${B", B: "b" })["A"]).toBe("aB");
  });

  test("leaves the references of a cycle, and only those", () => {
    const variables = new Map(
      Object.entries({ A: "$B-$X", B: "$A", X: "x", AFTER: "<$A>", SELF: "$SELF:/bin" }).map(
        ([name, value]) => [name, { value, isRaw: false }] as const,
      ),
    );
    const { values, cycles } = expandVariables(variables);
    expect({ ...values }).toEqual({ A: "$B-x", B: "$A", X: "x", AFTER: "<$B-x>", SELF: "$SELF:/bin" });
    expect(cycles).toEqual(["A", "B", "SELF"]);
  });

  test("takes names of prototypes for names", () => {
    expect(expand({ A: "<$constructor>", toString: "t", B: "$toString" })).toEqual({ A: "<>", toString: "t", B: "t" });
  });

  test("ends when values would grow beyond bounds", () => {
    const doubling = Array.from(
      { length: 60 },
      (_, i) => [`V${i}`, { value: `$V${i + 1}$V${i + 1}`, isRaw: false }] as const,
    );
    const variables = new Map<string, { value: string; isRaw: boolean }>([
      ...doubling,
      ["V60", { value: "boom", isRaw: false }],
    ]);
    expect(expandVariables(variables).isTooLong).toBe(true);
  });

  test("reads hostile texts and long chains in linear time", () => {
    const chain = Array.from({ length: 20_000 }, (_, i) => [`V${i}`, { value: `$V${i + 1}`, isRaw: false }] as const);
    expect(expandVariables(new Map([...chain, ["V20000", { value: "x", isRaw: false }]])).values["V0"]).toBe("x");
    expect(expand({ A: "${{".repeat(200_000) })["A"]).toHaveLength(600_000);
    expect(expand({ A: "${".repeat(300_000) })["A"]).toBe("");
  });
});

describe("expandVariables(): a variable that hides another", () => {
  const raw = (value: string, below?: RawVariable): RawVariable => ({ value, isRaw: false, below });

  test("expandVariables() takes a reference to itself for the variable that it hides", () => {
    const { values, cycles } = expandVariables(
      new Map([
        ["A", raw("$A:three", raw("$A:two", raw("one-$B")))],
        ["B", raw("b")],
        ["C", raw("<$A>")],
      ]),
    );
    expect({ ...values }).toEqual({ A: "one-b:two:three", B: "b", C: "<one-b:two:three>" });
    expect(cycles).toEqual([]);
  });

  test("expandVariables() finds a cycle that goes through a hidden variable", () => {
    const { cycles } = expandVariables(
      new Map([
        ["A", raw("$A", raw("$B"))],
        ["B", raw("$A")],
      ]),
    );
    expect(cycles).toEqual(["A", "B"]);
  });
});
