import { describe, expect, test } from "vitest";
import { MAX_DIAGNOSTICS } from "./limits.ts";
import { Report } from "./report.ts";
import type { SourceCode } from "./source-rules.ts";

const source = { name: "test.yml", text: "first: 1\nsecond: 2\n" };
const first = { source, offset: 0, length: 5 };
const second = { source, offset: 9, length: 6 };
const finding = { code: "wrong-type", message: "It is wrong" } as const;

function filled(severity: "error" | "warning" | "note", count: number): Report<never, SourceCode> {
  const report = new Report<never, SourceCode>();
  for (let i = 0; i < count; i++) report.add(severity, first, finding);
  return report;
}

describe("Report", () => {
  test("gives what was found in the order of the text, first what has no place", () => {
    const report = new Report();
    report.note(second, finding);
    report.warn(first, { ...finding, hint: "Mend it." });
    report.error(undefined, finding);
    expect(report.finish()).toMatchObject([
      { severity: "error", position: undefined },
      { severity: "warning", position: { line: 1, column: 1, length: 5 }, hint: "Mend it." },
      { severity: "note", position: { line: 2, column: 1, length: 6 } },
    ]);
  });

  test("points to a part of a scalar's value", () => {
    const report = new Report();
    const text = 'a: "x\\ny"\n';
    const node = {
      kind: "scalar",
      value: "x\ny",
      text: "x\ny",
      style: "double-quoted",
      source: { name: "test.yml", text },
      offset: 3,
      length: 6,
    } as const;
    report.error(node, { ...finding, part: { offset: 2, length: 1 } });
    expect(report.finish()[0]?.position).toMatchObject({ offset: text.indexOf("y"), length: 1 });
  });

  test.each(["error", "warning", "note"] as const)(
    "keeps so many of severity %s and says that there are more",
    (severity) => {
      expect(filled(severity, MAX_DIAGNOSTICS).finish()).toHaveLength(MAX_DIAGNOSTICS);
      const diagnostics = filled(severity, MAX_DIAGNOSTICS + 1).finish();
      expect(diagnostics).toHaveLength(MAX_DIAGNOSTICS + 1);
      expect(diagnostics.at(-1)).toEqual({
        severity,
        code: "too-many-problems",
        message: `More problems of severity "${severity}" are not shown`,
      });
    },
  );

  test("keeps an error though there are too many warnings", () => {
    const report = filled("warning", 5 * MAX_DIAGNOSTICS);
    report.error(second, finding);
    expect(report.finish().filter(({ severity }) => severity === "error")).toHaveLength(1);
    expect(report.hasErrors).toBe(true);
  });

  test("makes no finding for which there is no room", () => {
    const report = filled("error", MAX_DIAGNOSTICS);
    report.error(first, () => {
      throw new Error("made");
    });
    expect(report.hasRoom("error")).toBe(false);
    expect(report.hasRoom("warning")).toBe(true);
  });

  test("takes over what another reader found within the same limit, and says once that there is more", () => {
    const report = filled("error", 1);
    report.include(filled("error", MAX_DIAGNOSTICS + 1).finish());
    const diagnostics = report.finish();
    expect(diagnostics).toHaveLength(MAX_DIAGNOSTICS + 1);
    expect(diagnostics.filter(({ code }) => code === "too-many-problems")).toEqual([diagnostics.at(-1)]);
  });
});
