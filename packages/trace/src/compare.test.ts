import type { TraceJson } from "@steps/proto";
import { type RuntimeString, sensitive } from "@steps/model";
import type { StepEvent } from "@steps/model/event";
import { digestOf } from "@steps/platform";
import { describe, expect, test } from "vitest";
import { exampleRun, fold, SECRET, type StepOptions } from "../test/events.ts";
import { compareTraces, normaliseLog } from "./entries/compare.ts";

const traceOf = (options: Partial<StepOptions> = {}): TraceJson => fold(exampleRun(options)).trace;
const expected = traceOf();

function mapped(map: (event: StepEvent) => StepEvent): TraceJson {
  return fold(exampleRun().map(map)).trace;
}

describe("compareTraces()", () => {
  test("finds equal runs identical, in another directory too", () => {
    expect(compareTraces(expected, traceOf({ dir: "/elsewhere" }))).toEqual({
      verdict: "identical",
      steps: ["", "0", "1"].map((path, index) => ({ path, step: ["", "a", "b"][index], verdict: "identical" })),
      differences: [],
      ignored: [],
    });
  });

  test("points into values, names the first step that differs and tags what follows from it", () => {
    const actual = mapped((event) => {
      if (event.type !== "step-finished" || event.path === "") return event;
      return event.path === "0"
        ? { ...event, outputs: { result: { deep: ["x", 1] } } }
        : { ...event, status: "failure", exitCode: 3 };
    });
    const before = mapped((event) =>
      event.type === "step-finished" && event.path === "0"
        ? { ...event, outputs: { result: { deep: ["y", 1] } } }
        : event,
    );
    const { verdict, differences, steps } = compareTraces(before, actual);
    expect(verdict).toBe("different");
    expect(differences).toEqual([
      {
        path: "0",
        step: "a",
        pointer: "/det/outputs/result/deep/0",
        kind: "outputs",
        severity: "different",
        expected: '"y"',
        actual: '"x"',
      },
      {
        path: "1",
        step: "b",
        pointer: "/det/status",
        kind: "status",
        severity: "different",
        expected: "success",
        actual: "failure",
        cause: 'downstream of step "a"',
      },
      {
        path: "1",
        step: "b",
        pointer: "/det/exitCode",
        kind: "exit-code",
        severity: "different",
        expected: "0",
        actual: "3",
        cause: 'downstream of step "a"',
      },
    ]);
    expect(steps.map((step) => step.verdict)).toEqual(["identical", "different", "different"]);
  });

  test.each<[string, (event: StepEvent) => StepEvent, string]>([
    [
      "component",
      (event) =>
        "component" in event && event.component
          ? { ...event, component: { ...event.component, digest: { gitTree: "8".repeat(64) } } }
          : event,
      "component",
    ],
    [
      "definition",
      (event) => (event.type === "step-planned" ? { ...event, definitionDigest: "8".repeat(64) } : event),
      "definition",
    ],
    ["inputs", (event) => (event.type === "step-planned" ? { ...event, inputs: { text: 1 } } : event), "inputs"],
    ["env", (event) => (event.type === "process-starting" ? { ...event, env: { PATH: "/bin" } } : event), "env"],
    ["command", (event) => (event.type === "process-starting" ? { ...event, command: ["x"] } : event), "command"],
    ["work dir", (event) => (event.type === "process-starting" ? { ...event, workDir: "/" } : event), "command"],
    ["signal", (event) => (event.type === "step-finished" ? { ...event, signal: "SIGKILL" } : event), "signal"],
    ["exports", (event) => (event.type === "step-finished" ? { ...event, exports: { X: "1" } } : event), "exports"],
    ["name", (event) => (event.type === "step-opened" && event.path === "0" ? { ...event, name: "z" } : event), "step"],
  ])("finds another %s different", (_, map, kind) => {
    const { verdict, differences } = compareTraces(expected, mapped(map));
    expect(verdict).toBe("different");
    expect(differences.map((difference) => difference.kind)).toContain(kind);
  });

  test("tells a step that did not run, and one that is new", () => {
    const without: TraceJson = {
      ...expected,
      root: { ...expected.root, children: expected.root?.children?.slice(0, 1) ?? [] },
    };
    expect(compareTraces(expected, without)).toMatchObject({
      verdict: "different",
      differences: [{ path: "1", kind: "step", expected: 'step "b"', actual: "no step" }],
    });
    expect(compareTraces(expected, without).steps.at(-1)).toEqual({ path: "1", step: "b", verdict: "not-run" });
    expect(compareTraces(without, expected).differences).toMatchObject([
      { path: "1", expected: "no step", actual: 'step "b"' },
    ]);
  });

  test("warns of other tools and machines, and refuses them when strict", () => {
    const actual = mapped((event) => {
      if (event.type === "run-started")
        return { ...event, runtime: { ...event.runtime, arch: "arm64", kernel: "7.0" } };
      return event.type === "process-starting" ? { ...event, tools: [] } : event;
    });
    expect(compareTraces(expected, actual)).toMatchObject({ verdict: "drift" });
    expect(compareTraces(expected, actual).differences.map(({ kind }) => kind)).toEqual(["tools", "tools", "runtime"]);
    expect(compareTraces(expected, actual, { countsDrift: true }).verdict).toBe("different");
  });

  test("compares logs without times and addresses where it has them", () => {
    const texts = { expected: "took 1.2s at 0xdeadbeef\nok\n", actual: "took 3.4s at 0xcafe0000\nok\n" };
    const actual = traceOf({ stdout: texts.actual });
    const before = traceOf({ stdout: texts.expected });
    expect(compareTraces(before, actual).verdict).toBe("drift");
    const logs = (side: "expected" | "actual") => texts[side];
    expect(compareTraces(before, actual, { logs })).toMatchObject({
      verdict: "normalised",
      differences: [{ kind: "stdout", path: "1", expected: "line 1: took 1.2s at 0xdeadbeef" }],
    });
    expect(compareTraces(before, actual, { logs, countsDrift: true }).verdict).toBe("different");
    const other = (side: "expected" | "actual") => `${texts[side]}${side}`;
    expect(compareTraces(before, actual, { logs: other })).toMatchObject({
      verdict: "drift",
      differences: [{ expected: "line 3: expected", actual: "line 3: actual" }],
    });
  });

  test("compares the short logs that both traces hold, with places named instead of paths", () => {
    const logOf = (stdout: string, dir = "/one"): TraceJson => traceOf({ stdout, dir, hasInlineLog: true });
    const before = logOf("wrote /one/tmp/output and /one/work/a in 1.2s\n");
    const after = logOf("wrote /two/x/tmp/output and /two/x/work/a in 3.4s\n", "/two/x");
    expect(compareTraces(before, after)).toMatchObject({
      verdict: "normalised",
      differences: [
        {
          kind: "stdout",
          severity: "normalised",
          expected: "line 1: wrote {{output_file}} and {{work_dir}}/a in 1.2s",
          actual: "line 1: wrote {{output_file}} and {{work_dir}}/a in 3.4s",
        },
      ],
    });
    const paths = compareTraces(logOf("in /one/work\n"), logOf("in /two/x/work\n", "/two/x"));
    expect(paths).toMatchObject({ verdict: "normalised", differences: [{ kind: "stdout" }] });
    expect(compareTraces(before, after, { countsDrift: true }).verdict).toBe("different");
    expect(compareTraces(before, logOf("else\n")).verdict).toBe("drift");
    expect(compareTraces(before, traceOf({ stdout: "in 3.4s\n" })).verdict).toBe("drift");
  });

  test("does not take a line on the other stream for the same", () => {
    const moved = mapped((event) => {
      if (event.type !== "step-finished" || event.log === undefined) return event;
      const { stdout, stderr } = event.log;
      return { ...event, log: { ...event.log, stdout: stderr, stderr: stdout, inline: "aGVsbG8K" } };
    });
    const before = fold(exampleRun({ hasInlineLog: true })).trace;
    expect(compareTraces(before, moved).verdict).toBe("drift");
  });

  test("does not mind where a program lies, but which it is", () => {
    const withTool = (uri: string, sha256 = "3".repeat(64)): TraceJson =>
      mapped((event) =>
        event.type === "process-starting"
          ? { ...event, tools: event.tools.map((tool) => ({ ...tool, uri, digest: { sha256 } })) }
          : event,
      );
    const strictly = { countsDrift: true };
    expect(compareTraces(expected, withTool("/two/echo"), strictly).verdict).toBe("identical");
    expect(withTool("/two/echo").fingerprints).toEqual(expected.fingerprints);
    expect(compareTraces(expected, withTool("/bin/false"), strictly).verdict).toBe("different");
    expect(compareTraces(expected, withTool("/bin/echo", "4".repeat(64)), strictly).verdict).toBe("different");
  });

  test("takes another path of a built-in step's program for another tool, not for another step", () => {
    const withShell = (shell: string, script = "true", kind: "dist" | "local" = "dist"): TraceJson =>
      mapped((event) => {
        if (event.type === "step-planned" && event.path !== "") {
          const reference = { kind, path: "script" };
          return { ...event, reference, definitionDigest: digestOf(shell) };
        }
        return event.type === "process-starting" ? { ...event, command: [shell, "-c", script] } : event;
      });
    const before = withShell("/bin/bash");
    const drift = compareTraces(before, withShell("/usr/bin/bash"));
    expect(drift.verdict).toBe("drift");
    expect(drift.differences.filter(({ path }) => path === "0")).toMatchObject([
      { kind: "tools", pointer: "/det/definitionDigest" },
      { kind: "tools", pointer: "/det/command/0" },
    ]);
    expect(compareTraces(before, withShell("/usr/bin/bash"), { countsDrift: true }).verdict).toBe("different");
    expect(compareTraces(before, withShell("/usr/bin/bash", "false")).verdict).toBe("different");
    const local = compareTraces(withShell("/bin/bash", "true", "local"), withShell("/bin/sh", "true", "local"));
    expect(local.verdict).toBe("different");
  });

  test("does not mind why a value is a secret", () => {
    const withToken = (token: RuntimeString): TraceJson =>
      mapped((event) => (event.type === "process-starting" ? { ...event, env: { TOKEN: token } } : event));
    const [masked, marked] = [withToken(SECRET), withToken(sensitive(SECRET))];
    expect(masked.root?.children?.[0]?.det?.env).not.toEqual(marked.root?.children?.[0]?.det?.env);
    expect(compareTraces(masked, marked).verdict).toBe("identical");
    expect(masked.fingerprints).toEqual(marked.fingerprints);
    expect(compareTraces(marked, withToken("open")).verdict).toBe("different");
  });

  test("tells steps without a name apart by their number", () => {
    const unnamed = (exitCode: number): TraceJson =>
      mapped((event) => {
        if (event.type === "step-opened" && event.path === "1") return { ...event, name: "" };
        return event.type === "step-finished" && event.path === "1" ? { ...event, exitCode } : event;
      });
    const { differences, steps } = compareTraces(unnamed(0), unnamed(4));
    expect(differences).toMatchObject([{ path: "1", step: "#2", kind: "exit-code" }]);
    expect(steps.map(({ step }) => step)).toEqual(["", "a", "#2"]);
    expect(compareTraces(unnamed(0), unnamed(4), { ignore: ["exit-code.#2"] }).verdict).toBe("identical");
  });

  test.each(["outputs", "outputs.result", "outputs.b.result", "outputs.*.result", "*.b"])(
    "ignores what %s names, not silently",
    (pattern) => {
      const { verdict, differences, ignored } = compareTraces(expected, traceOf({ outputs: { result: "else" } }), {
        ignore: [pattern],
      });
      expect({ verdict, differences }).toEqual({ verdict: "identical", differences: [] });
      expect(ignored).toMatchObject([{ pointer: "/det/outputs/result" }]);
    },
  );

  test.each(["outputs.a", "outputs.res", "env", ""])("does not take %j for more than it names", (pattern) => {
    expect(compareTraces(expected, traceOf({ outputs: { result: "else" } }), { ignore: [pattern] }).verdict).toBe(
      "different",
    );
  });

  test("does not look into what was redacted", () => {
    const large = (char: string): TraceJson => traceOf({ outputs: { result: char.repeat(2_000_000) } });
    expect(compareTraces(large("x"), large("x")).verdict).toBe("identical");
    expect(compareTraces(large("x"), large("y")).verdict).toBe("different");
  });
});

describe("normaliseLog()", () => {
  test.each([
    ["\u001b[32mok\u001b[0m \u001b]0;title\u0007x", "ok x"],
    ["2026-01-31T12:00:00.123Z start", "<time> start"],
    ["2026-01-31 12:00:00,5 +0100 a 12:00:01 b 2026/01/31", "<time> a <time> b <date>"],
    ["Sat Jan 31 12:00:00 UTC 2026", "<time>"],
    ["took 1.25s, 3 ms, 2m 3s and 4 minutes", "took <duration>, <duration>, <duration> and <duration>"],
    ["at 0x7ffd1234abcd", "at <address>"],
    ["in /tmp/tmp.Ab12/x and /var/tmp/y", "in <tmp>/x and <tmp>"],
    ["10%\r50%\r100%\r\ndone\r\n", "100%\ndone\n"],
    ["3 modules, 5 states, 1.5 MB", "3 modules, 5 states, 1.5 MB"],
  ])("turns %j into %j", (text, normal) => {
    expect(normaliseLog(text)).toBe(normal);
  });

  test("is quick on hostile logs", () => {
    for (const text of [
      "\u001b]".repeat(50_000),
      "\u001b[0".repeat(50_000),
      "1".repeat(200_000),
      "/tmp/".repeat(50_000),
      "\r".repeat(100_000),
    ]) {
      expect(normaliseLog(text)).toBeTypeOf("string");
    }
  });
});
