import { type RuntimeValue, sensitive } from "@steps/model";
import { describe, expect, test } from "vitest";
import {
  createScope,
  defaultFunctions,
  expand,
  ExpressionError,
  type ExpressionNote,
  expandText,
  expandValue,
} from "./index.ts";
import { showMarks } from "../test/show-marks.ts";

const scope = createScope({
  inputs: { a: 1, none: null, object: { b: 1, a: [true] }, name: "Ada", "my-name": "Grace" },
  steps: {
    "hello-world": { outputs: { x: "hyphen", none: null, object: { b: 1, a: 2 } } },
    "my step": { outputs: { x: "space" } },
    hello: { outputs: {} },
  },
  env: { A_B: "c" },
});

const codeOf = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    if (error instanceof ExpressionError) return error.code;
    throw error;
  }
  return "none";
};

describe("native passthrough", () => {
  test("keeps the type of a single expression, with white space around too", () => {
    for (const text of ["${{ inputs.object }}", "${{ inputs.object }}\n", "\n  ${{ inputs.object }} \r\n\t"]) {
      expect(expand(text, scope)).toEqual({ b: 1, a: [true] });
    }
    expect(expand("${{ null }}\n", scope)).toBeNull();
    expect(expand("${{ 1 == 1 }}", scope)).toBe(true);
  });

  test("keeps the white space around a string", () => {
    expect(expand(" ${{ inputs.name }}\n", scope)).toBe(" Ada\n");
    const marked = createScope({ inputs: { name: sensitive("Ada") } });
    expect(showMarks(expand(" ${{ inputs.name }}\n", marked))).toEqual({ $sensitive: " Ada\n" });
  });

  test("makes a text of more than one expression", () => {
    expect(expand("${{ 1 }}${{ 2 }}", scope)).toBe("12");
    expect(expand("${{ 1 }} ${{ 2 }}", scope)).toBe("1 2");
    expect(expand("\\${{${{ 2 }}", scope)).toBe("${{2");
  });
});

describe("text around an expression", () => {
  test.each([
    ["${{ 'a' }}", "a"],
    ["${{ true }}", "true"],
    ["${{ 1.50 }}", "1.5"],
    ["${{ -0 }}", "0"],
    ["${{ 0.1 + 0.2 }}", "0.30000000000000004"],
    ["${{ 1e21 }}", "1e+21"],
    ["${{ 100000000000000000000 }}", "100000000000000000000"],
    ["${{ 0.0000001 }}", "1e-7"],
    ["${{ inputs.object }}", '{"b":1,"a":[true]}'],
    ["${{ [null, '<&>', \"\\n\"] }}", '[null,"<&>","\\n"]'],
  ])("%s", (text, wanted) => {
    expect(expand(`<${text}>`, scope)).toBe(`<${wanted}>`);
    expect(expandText(text, scope)).toBe(wanted);
  });

  test("is an error for null", () => {
    expect(codeOf(() => expand("a ${{ inputs.none }}", scope))).toBe("NULL_IN_TEXT");
    expect(codeOf(() => expandText("${{ inputs.none }}", scope))).toBe("NULL_IN_TEXT");
    expect(expand("a ${{ str(inputs.none) }}", scope)).toBe("a <null>");
  });

  test("must be a string when strict", () => {
    const options = { isStrictMoa: true };
    expect(codeOf(() => expand("a ${{ 1 }}", scope, options))).toBe("NOT_TEXT");
    expect(codeOf(() => expand('${{ "a${{ 1 }}" }}', scope, options))).toBe("NOT_TEXT");
    expect(expand("a ${{ str(1) }}", scope, options)).toBe("a 1");
    expect(expand("${{ 1 }}", scope, options)).toBe(1);
    expect(expandText("${{ 1 }}\n", scope, options)).toBe("1\n");
  });
});

describe("the old dotted language", () => {
  const read = (text: string) => {
    const notes: ExpressionNote[] = [];
    return { value: expand(text, scope, { onNote: (note) => notes.push(note) }), notes };
  };

  test("is read where Moa stops at an unknown name or key", () => {
    expect(read("${{ steps.hello-world.outputs.x }}")).toEqual({
      value: "hyphen",
      notes: [
        {
          code: "dotted-expression",
          message:
            '"steps.hello-world.outputs.x" is an expression of the old dotted language: ' +
            'write steps["hello-world"].outputs.x',
        },
      ],
    });
    expect(read("${{inputs.my-name}}").value).toBe("Grace");
  });

  test("is read where Moa cannot be parsed", () => {
    expect(read("${{ steps.my step.outputs.x }}!").value).toBe("space!");
    expect(read("${{ steps.my step.outputs.x }}").notes).toHaveLength(1);
  });

  test("is never read when Moa has a value", () => {
    const numbers = createScope({ a: { b: 5, "b-c": 7 }, c: 2 });
    const notes: ExpressionNote[] = [];
    expect(expand("${{ a.b-c }}", numbers, { onNote: (note) => notes.push(note) })).toBe(3);
    expect(read("${{ steps.hello.outputs }}").notes).toEqual([]);
    expect(notes).toEqual([]);
  });

  test("is not read for another failure, nor for another shape", () => {
    const numbers = createScope({ a: { b: "text", "b-c": 7 }, c: 2 });
    expect(codeOf(() => expand("${{ a.b-c }}", numbers))).toBe("TYPE_MISMATCH");
    expect(codeOf(() => expand("${{ (steps.my-step.outputs.x) }}", scope))).toBe("UNKNOWN_KEY");
    expect(codeOf(() => expand("${{ steps.my-step.outputs.x + 'a' }}", scope))).toBe("UNKNOWN_KEY");
    expect(codeOf(() => expand('${{ "${{ steps.my-step.outputs.x }}" }}', scope))).toBe("UNKNOWN_KEY");
  });

  test("leaves the error of Moa when it finds nothing", () => {
    expect(codeOf(() => expand("${{ steps.hello-there.outputs.x }}", scope))).toBe("UNKNOWN_NAME");
    expect(codeOf(() => expand("${{ nothing at all }}", scope))).toBe("UNEXPECTED_TOKEN");
    expect(codeOf(() => expand("${{ steps.my stop.outputs.x }}", scope))).toBe("UNKNOWN_KEY");
    expect(codeOf(() => expand("${{ inputs.a.my key }}", scope))).toBe("TYPE_MISMATCH");
  });

  test("prints null, and objects with their keys in order", () => {
    expect(expand("a ${{ steps.hello-world.outputs.none }}", scope)).toBe("a null");
    expect(expandText("${{ steps.hello-world.outputs.none }}", scope)).toBe("null");
    expect(expand("${{ steps.hello-world.outputs.none }}", scope)).toBeNull();
    expect(expand("a ${{ steps.hello-world.outputs.object }}", scope)).toBe('a {"a":2,"b":1}');
  });

  test("keeps marks", () => {
    const marked = createScope({ a: sensitive({ "b-c": { d: "s" } }) });
    expect(showMarks(expand("${{ a.b-c.d }}", marked))).toEqual(showMarks(sensitive("s")));
    expect(showMarks(expand("x${{ a.b-c.d }}", marked))).toEqual(showMarks(sensitive("xs")));
  });
});

describe("expandText()", () => {
  test("keeps white space and marks", () => {
    expect(expandText("plain", scope)).toBe("plain");
    expect(expandText(" ${{ inputs.a }}\n", scope)).toBe(" 1\n");
    const marked = createScope({ token: sensitive(5), list: [1, sensitive("x")] });
    expect(showMarks(expandText("${{ token }}", marked))).toEqual(showMarks(sensitive("5")));
    expect(showMarks(expandText("${{ list }}", marked))).toEqual(showMarks(sensitive('[1,"x"]')));
  });
});

describe("expandValue()", () => {
  test("expands strings at any depth, and keys", () => {
    const value = { "k_${{ inputs.a }}": ["${{ inputs.object }}", { x: "a ${{ inputs.name }}" }, 1, null, true] };
    const result = expandValue(value, scope);
    expect(result).toEqual({ k_1: [{ b: 1, a: [true] }, { x: "a Ada" }, 1, null, true] });
    expect(Object.getPrototypeOf(result)).toBeNull();
  });

  test("keeps marks on the parts, and on the whole for a sensitive key", () => {
    const marked = createScope({ token: sensitive("t") });
    expect(showMarks(expandValue({ a: "${{ token }}", b: 1 }, marked))).toEqual(showMarks({ a: sensitive("t"), b: 1 }));
    const whole = expandValue({ "${{ token }}": 1 }, marked);
    expect(showMarks(whole)).toEqual({ $sensitive: { t: 1 } });
  });

  test("says where in the value an error is", () => {
    const action = () => expandValue({ a: ["ok", { b: "x ${{ nope }}" }] }, scope);
    expect(action).toThrow(expect.objectContaining({ code: "UNKNOWN_NAME", path: ["a", "1", "b"], offset: 6 }));
  });

  test("refuses keys that come out alike, and values nested too deep", () => {
    expect(codeOf(() => expandValue({ Ada: 1, "${{ inputs.name }}": 2 }, scope))).toBe("DUPLICATE_KEY");
    let deep: { [key: string]: never } | [] = [];
    for (let i = 0; i < 100_000; i++) deep = [deep] as unknown as [];
    expect(codeOf(() => expandValue(deep, scope))).toBe("VALUE_TOO_DEEP");
  });

  test("treats __proto__ as a key", () => {
    const result = expandValue(JSON.parse('{"__proto__": {"x": "${{ 1 }}"}}') as never, scope) as object;
    expect(Object.keys(result)).toEqual(["__proto__"]);
    expect("x" in result).toBe(false);
  });
});

describe("values from the scope", () => {
  test("may be nested deep without overflowing the stack", () => {
    let deep: RuntimeValue = "bottom";
    for (let i = 0; i < 200_000; i++) deep = [deep];
    const deepScope = createScope({ deep });
    expect(expand("${{ deep }}", deepScope)).toBe(deep);
    for (const text of [
      "x${{ deep }}",
      "${{ deep == deep }}",
      "${{ str(deep) }}",
      "${{ !deep }}",
      "${{ len(deep) }}",
    ]) {
      expect([text, codeOf(() => expand(text, deepScope))]).toEqual([text, "VALUE_TOO_DEEP"]);
    }
  });

  test("may share parts without costing more than the budget", () => {
    let shared: RuntimeValue = "leaf";
    for (let i = 0; i < 60; i++) shared = [shared, shared];
    expect(codeOf(() => expand("${{ a == b }}", createScope({ a: shared, b: shared })))).toBe("TOO_MUCH_EFFORT");
    expect(["TOO_MUCH_EFFORT", "TEXT_TOO_LARGE"]).toContain(
      codeOf(() => expand("${{ str(a) }}", createScope({ a: shared }))),
    );
  });

  test("are looked up only when they are used, and foreign errors pass through", () => {
    const failing = createScope({
      a: 1,
      b: () => {
        throw new RangeError("lookup");
      },
    });
    expect(expand("${{ a || b }}", failing)).toBe(1);
    expect(() => expand("${{ b }}", failing)).toThrow(RangeError);
  });
});

describe("functions of the caller", () => {
  test("take the place of the table, and their failures get a place", () => {
    const functions = {
      ...defaultFunctions,
      twice: { minArgs: 1, maxArgs: 1, call: ([value]: readonly RuntimeValue[]) => [value as RuntimeValue, 2] },
      fail: {
        minArgs: 0,
        maxArgs: 0,
        call: () => {
          throw new Error("inner");
        },
      },
    };
    expect(expand("${{ twice(len('ab')) }}", scope, { functions })).toEqual([2, 2]);
    expect(() => expand("x ${{ fail() }}", scope, { functions })).toThrow(
      expect.objectContaining({ code: "FUNCTION_FAILED", offset: 6, length: 6 }),
    );
    expect(codeOf(() => expand("${{ len('a') }}", scope, { functions: {} }))).toBe("UNKNOWN_FUNCTION");
  });
});
