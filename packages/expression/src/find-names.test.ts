import { describe, expect, test } from "vitest";
import { findNames } from "./find-names.ts";

function names(text: string): readonly string[] {
  return findNames(text).map(({ kind, name, of }) =>
    kind === "member" ? `${of}.${name}` : kind === "name" ? name : `${name}()`,
  );
}

describe("findNames()", () => {
  test("gives roots with their first members, and functions, wherever they stand", () => {
    expect(names('x ${{ a.b.c }} ${{ f(d["e"], [g[0]], {h: !i}) + 1 }} ${{ j[k.l] && "${{ m }}" }}')).toEqual(
      expect.arrayContaining(["a", "a.b", "f()", "d", "d.e", "g", "i", "j", "k", "k.l"]),
    );
  });

  test("leaves members out that has() or get() ask for", () => {
    expect(names('${{ has(a, "b") && a.b }}')).not.toContain("a.b");
  });

  test("passes over what is malformed, escaped, or read in either language", () => {
    expect(names("${{ a + }} \\${{ b }} ${{ c-d.e }}")).toEqual([]);
  });

  test("says where a name stands", () => {
    expect(findNames("ab ${{ x.y['z'][n].w }}")).toEqual([
      { kind: "name", name: "x", offset: 7, length: 1, isAlwaysRead: true },
      {
        kind: "member",
        name: "y",
        of: "x",
        rest: [{ name: "z", length: 8 }],
        offset: 7,
        length: 3,
        isAlwaysRead: true,
      },
      { kind: "name", name: "n", offset: 16, length: 1, isAlwaysRead: true },
    ]);
  });

  test("says which names are read whatever the values are", () => {
    const found = findNames("${{ f(a || b.c) && d }}").filter(({ isAlwaysRead }) => isAlwaysRead);
    expect(found.map(({ name }) => name)).toEqual(["f", "a"]);
  });
});
