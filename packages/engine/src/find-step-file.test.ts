import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { assertInside, findStepFile, isStepNotFound } from "./find-step-file.ts";

function folder(files: Readonly<Record<string, string>>): string {
  const dir = tempDir();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  return dir;
}

function errorOf(find: () => unknown): { readonly code: string; readonly message: string } {
  try {
    find();
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error("it was found");
}

describe("findStepFile()", () => {
  test("takes func.yml before step.yml and says what it passed over", () => {
    const dir = folder({ "step.yml": "step", "func.yml": "func" });
    const found = findStepFile(dir, undefined, undefined);
    expect(found).toMatchObject({ file: "func.yml", content: Buffer.from("func"), shadowed: "step.yml" });
    expect(findStepFile(folder({ "step.yml": "x" }), undefined, undefined)).toMatchObject({
      file: "step.yml",
      shadowed: undefined,
    });
    expect(findStepFile(dir, "step.yml", undefined)).toMatchObject({
      file: "step.yml",
      content: Buffer.from("step"),
      shadowed: undefined,
    });
  });

  test("says what is missing: the folder, or a step in it", () => {
    const dir = folder({});
    expect(errorOf(() => findStepFile(dir, undefined, undefined))).toMatchObject({
      code: "STEP_NOT_FOUND",
      message: expect.stringContaining("step.yml"),
    });
    expect(errorOf(() => findStepFile(join(dir, "no"), undefined, undefined)).message).toContain("no such folder");
    expect(errorOf(() => findStepFile(dir, "other.yml", dir)).message).toBe(
      'Cannot find a step in ".": it has no other.yml',
    );
    expect(isStepNotFound(errorOf(() => findStepFile(dir, undefined, undefined)))).toBe(true);
  });

  test("refuses a folder in the place of the file, and a file too large", () => {
    const dir = folder({ "big.yml": "#".repeat(4 * 1024 * 1024 + 1) });
    mkdirSync(join(dir, "step.yml"));
    expect(errorOf(() => findStepFile(dir, undefined, undefined)).message).toContain("not a file");
    expect(errorOf(() => findStepFile(dir, "big.yml", undefined)).message).toContain("bytes");
  });

  test("refuses a link that leads out of the component, wherever it points", () => {
    const outside = folder({ "step.yml": "secret" });
    const root = folder({});
    symlinkSync(join(outside, "step.yml"), join(root, "step.yml"));
    symlinkSync(outside, join(root, "dir"));
    expect(errorOf(() => findStepFile(root, undefined, root)).code).toBe("REFERENCE_INVALID");
    expect(errorOf(() => findStepFile(join(root, "dir"), undefined, root)).code).toBe("REFERENCE_INVALID");
    expect(errorOf(() => findStepFile(join(root, ".."), undefined, root)).code).toMatch(
      /REFERENCE_INVALID|STEP_NOT_FOUND/,
    );
  });
});

describe("assertInside()", () => {
  test("takes what lies inside, also by names that begin with dots", () => {
    const root = folder({});
    mkdirSync(join(root, "..hidden"));
    expect(() => assertInside(root, join(root, "..hidden"))).not.toThrow();
    expect(() => assertInside(root, root)).not.toThrow();
    expect(() => assertInside(join(root, "..hidden"), root)).toThrow("outside its component");
  });
});
