import { describe, expect, test } from "vitest";
import { exampleRun, fold } from "../test/events.ts";
import { formatTrace } from "./index.ts";

const { trace } = fold(exampleRun({ exitCode: 3, outputs: {} }));

describe("formatTrace()", () => {
  test("shows the tree, the components, the outputs and what failed", () => {
    expect(formatTrace(trace, { width: 120, hasColor: false })).toMatchInlineSnapshot(`
      "✗ job build  900ms  failure
      ├─ ✓ a  250ms  https://example.com/echo.git@main (222222222222)
      │    result = "{{work_dir}}/result"
      └─ ✗ b  250ms  failure  exit 3  https://example.com/echo.git@main (222222222222)
           step "b": exec: exit status 3
      warning: The form is deprecated [old-form]
      trace 0123456789abcdef0123456789abcdef, fingerprint 8378ec7e187c
      "
    `);
  });

  test("names images as they are written", () => {
    const shown = (requestedVersion: string): string => {
      const resource = { kind: "oci", uri: "oci://h.io/g/i", requestedVersion, digest: {} } as const;
      const root = { children: [{ path: "0", name: "a", det: { component: 0, status: "success" as const } }] };
      return formatTrace({ root, resources: [resource] }, { width: 200, hasColor: false });
    };
    expect(shown("1.2")).toContain("oci://h.io/g/i:1.2\n");
    expect(shown("sha256:ab")).toContain("oci://h.io/g/i@sha256:ab\n");
  });

  test("shows what an action wants to be seen, and a failure that was allowed", () => {
    const annotations = [
      { level: "warning", message: "look", title: "Here", file: "a.js", line: 3 },
      { level: "notice", message: "done" },
    ];
    const failed = { status: "failure" as const, exitCode: 3 };
    const children = [{ path: "0", name: "a", det: failed, obs: { conclusion: "success" as const, annotations } }];
    const shown = formatTrace({ root: { children } }, { width: 100, hasColor: false });
    expect(shown.split("\n").slice(1)).toEqual([
      "└─ ✗ a  failure  (allowed)  exit 3",
      "     warning: a.js:3: Here: look",
      "     notice: done",
      "",
    ]);
  });

  test("gives a step that was skipped no time, and one that ended within a tick of the clock none but 0ms", () => {
    const finishedAt = "2026-11-23T00:00:00Z";
    const children = [
      { path: "0", name: "a", det: { status: "skipped" as const }, obs: { durationMs: 1, finishedAt } },
      { path: "1", name: "b", det: { status: "success" as const }, obs: { finishedAt } },
      { path: "2", name: "c", det: { status: "interrupted" as const } },
    ];
    const shown = formatTrace({ root: { children } }, { width: 100, hasColor: false });
    expect(shown.split("\n").slice(1, 4)).toEqual([
      "├─ - a  skipped",
      "├─ ✓ b  0ms",
      expect.stringMatching(/ c  interrupted$/),
    ]);
  });

  test("cuts what is wider than the terminal", () => {
    for (const width of [10, 40]) {
      const lines = formatTrace(trace, { width, hasColor: false }).split("\n");
      expect(lines.every((line) => Array.from(line).length <= width)).toBe(true);
      expect(lines[1]?.endsWith("…")).toBe(true);
    }
  });

  test("colours without changing the text", () => {
    const plain = formatTrace(trace, { width: 60, hasColor: false });
    const coloured = formatTrace(trace, { width: 60, hasColor: true });
    expect(coloured).toContain("\u001b[31m✗\u001b[0m b");
    expect(coloured.replace(/\u001b\[\d+m/g, "")).toBe(plain);
  });

  test("never sends a control character of others to the terminal", () => {
    const hostile = { ...trace, notes: ["\u001b]52;c;x\u0007 \r\n \u009b31m \u202eabc \u007f"] };
    const shown = formatTrace(hostile, { width: 200, hasColor: false });
    expect(shown).toContain("␛]52;c;x␇ ␍␊ \\u009b31m \\u202eabc ␡");
    expect(shown.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });

  test("shows a trace with nothing in it", () => {
    expect(formatTrace({}, { width: 80, hasColor: true })).toBe("");
    expect(formatTrace({ root: {} }, { width: 80, hasColor: false })).toBe("? job  unknown\n");
  });
});
