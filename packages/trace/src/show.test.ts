import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exampleRun, fold } from "../test/events.ts";
import { formatDuration, formatTrace } from "./index.ts";

const { trace } = fold(exampleRun({ exitCode: 3, outputs: {} }));

describe("formatDuration()", () => {
  test.each([
    [0, "0ms"],
    [999.4, "999ms"],
    [999.7, "1.0s"],
    [1000, "1.0s"],
    [59_949, "59.9s"],
    [59_950, "1m00s"],
    [59_960, "1m00s"],
    [60_000, "1m00s"],
    [119_999.9, "1m59s"],
    [120_000, "2m00s"],
    [3_599_900, "59m59s"],
    [3_600_000, "60m00s"],
  ])("writes %d ms as %s", (ms, expected) => {
    expect(formatDuration(ms)).toBe(expected);
  });

  test("never writes as many of a unit as make the next one, nor less for a longer time", () => {
    // The borders of the units, and what is near them.
    const time = fc.oneof(
      fc.double({ min: 0, max: 10_000_000, noNaN: true }),
      fc
        .tuple(
          fc.constantFrom(1, 1000, 60_000, 3_600_000),
          fc.nat(100),
          fc.double({ min: -100, max: 100, noNaN: true }),
        )
        .map(([unit, count, off]) => Math.max(0, unit * count + off)),
    );
    fc.assert(
      fc.property(time, time, (one, other) => {
        const [shorter, longer] = [Math.min(one, other), Math.max(one, other)];
        expect(readBack(formatDuration(shorter))).toBeLessThanOrEqual(readBack(formatDuration(longer)));
      }),
      { numRuns: 2000 },
    );
  });
});

/** The milliseconds that a text says; a field that reaches its next unit is refused. */
function readBack(text: string): number {
  const { ms, s, min, sec } =
    /^(?:(?<ms>\d{1,3})ms|(?<s>[1-5]?\d\.\d)s|(?<min>\d+)m(?<sec>[0-5]\d)s)$/.exec(text)?.groups ?? {};
  if (ms !== undefined) return Number(ms);
  if (s !== undefined) return Number(s) * 1000;
  if (min !== undefined) return Number(min) * 60_000 + Number(sec) * 1000;
  throw new Error(`${text} is no time`);
}

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
