import { reveal, sensitive } from "@steps/model";
import type { SpecDefinition } from "@steps/model/definition";
import type { StepEvent } from "@steps/model/event";
import { describe, expect, test } from "vitest";
import { groupHasRunning } from "../src/process/proc.ts";
import { baseEnv, call, eventOf, exec, item, run, sequence, sh, statuses } from "./harness.ts";

const input = (type: "string" | "number" | "boolean" | "struct" | "array", rest: object = {}) => ({
  type,
  isSensitive: false,
  ...rest,
});

describe("execute()", () => {
  test("tells the events of every step in order", async () => {
    const ran = await run(sequence([call("a", "./a"), call("b", "./b")]), {
      steps: { "./a": sh("echo one"), "./b": sequence([item(sh("echo two"))]) },
    });
    expect(ran.outcome).toEqual({ status: "success" });
    expect(ran.output).toBe("one\ntwo\n");
    expect(ran.leftInTmp).toEqual([]);
    expect(ran.events.map((event) => `${event.type} ${"path" in event ? event.path : ""}`)).toEqual([
      "step-opened ",
      "step-planned ",
      "step-opened 0",
      "step-planned 0",
      "process-starting 0",
      "process-started 0",
      "step-finished 0",
      "step-opened 1",
      "step-planned 1",
      "step-opened 1/0",
      "step-planned 1/0",
      "process-starting 1/0",
      "process-started 1/0",
      "step-finished 1/0",
      "step-finished 1",
      "step-finished ",
    ]);
  });

  test("loads a step only when the one before has ended", async () => {
    const order: string[] = [];
    await run(sequence([call("a", "./a"), call("b", "./b")]), {
      steps: { "./a": exec(["true"]), "./b": exec(["true"]) },
      onEvent: (event) => order.push(`${event.type} ${"path" in event ? event.path : ""}`),
      hooks: {
        loadStep: async (reference) => {
          order.push(`load ${reference.kind === "local" ? reference.path : ""}`);
          const specDefinition = exec(["true"]);
          const none = { component: undefined, fetch: undefined, root: undefined };
          return { specDefinition, definitionDigest: "d", dir: "/", subpath: "", ...none };
        },
      },
    });
    expect(order.indexOf("load ./b")).toBeGreaterThan(order.indexOf("step-finished 0"));
  });

  test("chains messages and hands the exit code of the failing process up", async () => {
    const ran = await run(sequence([call("a", "./a"), call("never", "./never")]), {
      steps: { "./a": sequence([call("b", "./b")]), "./b": sh("exit 3") },
    });
    expect(ran.outcome).toEqual({
      status: "failure",
      exitCode: 3,
      error: { code: "EXIT_STATUS", message: 'step "a": step "b": exec: exit status 3' },
    });
    expect(statuses(ran.events)).toEqual(["0/0:failure", "0:failure", ":failure"]);
    expect(eventOf(ran, "step-finished", "0/0")).toMatchObject({
      exitCode: 3,
      error: { message: "exec: exit status 3" },
    });
    expect(eventOf(ran, "step-finished", "0")).not.toHaveProperty("exitCode");
  });

  test("reports a process that a signal ended", async () => {
    const ran = await run(sh("kill -KILL $$"));
    expect(ran.outcome).toEqual({
      status: "failure",
      signal: "SIGKILL",
      error: { code: "SIGNAL", message: "exec: signal: SIGKILL" },
    });
  });

  test("keeps the code of a load error and tells the failure of the runner from that of the author", async () => {
    const ran = await run(sequence([call("a", "./gone")]));
    expect(ran.outcome).toMatchObject({
      status: "error",
      error: { code: "NOT_FOUND", message: 'step "a": Cannot find step: "./gone"' },
    });
    expect(statuses(ran.events)).toEqual(["0:error", ":error"]);
  });

  test("refuses steps that call themselves without end", async () => {
    const ran = await run(sequence([call("a", "./a")]), { steps: { "./a": sequence([call("a", "./a")]) } });
    expect(ran.outcome).toMatchObject({ status: "failure", error: { code: "RECURSION_TOO_DEEP" } });
    expect(ran.events.filter((event) => event.type === "step-finished")).toHaveLength(102);
  });

  test("tells the component of a step and what was stored of its output", async () => {
    const stream = { sha256: "0", bytes: 2, lines: 1 };
    const log = { stdout: stream, stderr: stream, storedBytes: 2, droppedBytes: 0 };
    const component = {
      kind: "git" as const,
      uri: "https://example.com/steps",
      requestedVersion: "main",
      resolvedVersion: "0123",
      digest: { gitTree: "4567" },
      isMutable: true,
    };
    const ran = await run(sequence([call("a", "./a"), call("b", "./a")]), {
      hooks: {
        loadStep: async () => ({
          specDefinition: exec(["true"]),
          definitionDigest: "d",
          dir: "/c/steps",
          root: "/c",
          component,
          fetch: { isHit: false, bytes: 5, durationMs: 1 },
          subpath: "steps/step.yml",
        }),
        openLog: () => ({ write() {}, close: async () => log }),
      },
    });
    const resolved = ran.events.filter((event) => event.type === "component-resolved");
    expect(resolved).toMatchObject([
      { path: "0", resource: component, fetch: { isHit: false } },
      { path: "1", resource: component },
    ]);
    expect(eventOf(ran, "step-planned", "1")).toMatchObject({
      component,
      subpath: "steps/step.yml",
      definitionDigest: "d",
    });
    expect(eventOf(ran, "step-finished", "1").log).toEqual(log);
  });

  test("succeeds with an empty list", async () => {
    expect((await run(sequence([]))).outcome).toEqual({ status: "success" });
  });

  test("rejects with what the observer throws, and leaves no process", async () => {
    const pids: number[] = [];
    const failing = run(sh("sleep 60"), {
      onEvent: (event) => {
        if (event.type !== "process-started") return;
        pids.push(event.pid);
        throw new Error("journal is full");
      },
    });
    await expect(failing).rejects.toThrow("journal is full");
    expect(pids).toHaveLength(1);
    expect(groupHasRunning(pids[0] as number)).toBe(false);
  });
});

describe("inputs", () => {
  const spec = {
    inputs: {
      text: input("string"),
      count: input("number", { default: 2 }),
      key: { ...input("string"), isSensitive: true },
    },
    outputs: {},
  };
  const step: SpecDefinition = sh('echo "${{ inputs.text }} ${{ inputs.count }}"', { spec });

  test("names unknown and missing inputs together", async () => {
    const ran = await run(sequence([call("a", "./a", { inputs: { texd: "x", key: "k" } })]), {
      steps: { "./a": step },
    });
    expect(ran.outcome.error).toEqual({
      code: "INPUT_INVALID",
      message: 'step "a": the step has no input "texd", did you mean "text"?; input "text" is required',
    });
  });

  test("marks sensitive inputs and passes defaults", async () => {
    const ran = await run(sequence([call("a", "./a", { inputs: { text: "hi", key: "s3cret" } })]), {
      steps: { "./a": step },
    });
    expect(ran.output).toBe("hi 2\n");
    const planned = eventOf(ran, "step-planned", "0");
    expect(JSON.stringify(planned)).toContain("[MASKED]");
    expect(reveal(planned.inputs["key"] ?? null)).toBe("s3cret");
    expect(JSON.stringify(planned.inputs)).not.toContain("s3cret");
  });

  test("take an invocation's own env, which is expanded first", async () => {
    const ran = await run(
      sequence([call("a", "./a", { env: { name: "you" }, inputs: { text: "hello ${{ env.name }}", key: "" } })]),
      { steps: { "./a": step } },
    );
    expect(ran.output).toBe("hello you 2\n");
  });

  test("may have names that are expressions", async () => {
    const ran = await run(sequence([call("a", "./a", { inputs: { "${{ 'te' + 'xt' }}": "dynamic", key: "" } })]), {
      steps: { "./a": step },
    });
    expect(ran.output).toBe("dynamic 2\n");
  });

  test("of the job come as text from a command line", async () => {
    const jobSpec = { inputs: { list: input("array"), on: input("boolean") }, outputs: {} };
    const ran = await run(sh("echo ${{ inputs.list[1] }} ${{ inputs.on }} ${{ job.inputs.on }}", { spec: jobSpec }), {
      inputs: { list: "[1,2]", on: "true" },
    });
    expect(ran.output).toBe("2 true true\n");
  });

  test("of the caller are seen by anonymous items only", async () => {
    const caller = sequence([item(sh("echo ${{ inputs.text }}")), call("b", "./b")], {
      spec: { inputs: { text: input("string") }, outputs: {} },
    });
    const ran = await run(sequence([call("a", "./a", { inputs: { text: "seen" } })]), {
      steps: { "./a": caller, "./b": sh("echo ${{ inputs.text }}") },
    });
    expect(ran.output).toBe("seen\n");
    expect(ran.outcome.error?.code).toBe("EXPRESSION_FAILED");
  });
});

describe("environment", () => {
  test("exports beat the base at every depth and lose to every explicit env", async () => {
    const shown = sh('echo "$A $B $C"');
    const ran = await run(
      sequence(
        [
          call("first", "./export"),
          call("inner", "./inner", { env: { C: "invocation" } }),
          call("last", "./shown", {}),
        ],
        { env: { B: "job" } },
      ),
      {
        env: { ...baseEnv, A: "base", B: "base", C: "base" },
        steps: {
          "./export": sh(
            'echo "A=exported" > $E; echo "B=exported" >> $E; echo "{\\"name\\":\\"C\\",\\"value\\":1.5e30}" >> $E',
            {
              env: { E: "${{ export_file }}" },
            },
          ),
          "./inner": sequence([call("x", "./shown")]),
          "./shown": shown,
        },
      },
    );
    expect(ran.output).toBe(`exported job invocation\nexported job 15${"0".repeat(29)}\n`);
    expect(eventOf(ran, "step-finished", "0").exports).toEqual({
      A: "exported",
      B: "exported",
      C: `15${"0".repeat(29)}`,
    });
  });

  test("keys of a definition's env do not see each other", async () => {
    const ran = await run(sh('echo "$B"', { env: { A: "new", B: "${{ env.A }}" } }), { env: { ...baseEnv, A: "old" } });
    expect(ran.output).toBe("old\n");
  });

  test("of a process is what was declared and the cookie", async () => {
    const ran = await run(exec(["env"]), { env: { PATH: "/usr/bin:/bin", X: "1" }, cookie: "the-cookie" });
    expect(ran.output.trim().split("\n").toSorted()).toEqual([
      "PATH=/usr/bin:/bin",
      "STEP_RUNNER_COOKIE=the-cookie,the-cookie:",
      "X=1",
    ]);
    expect(eventOf(ran, "process-starting", "").env).toEqual({ PATH: "/usr/bin:/bin", X: "1" });
  });
});

describe("contexts", () => {
  test("report a variable when it is read for the first time, and no other", async () => {
    const ran = await run(
      sequence([
        item(sh("echo ${{ vars.A }} ${{ job.A }} ${{ job.project.name }}")),
        item(sh("echo ${{ vars.A }} ${{ job.variables.inputs }}")),
      ]),
      { vars: { A: "1", B: "2", CI_PROJECT_NAME: "steps", inputs: "v", SECRET: sensitive("s") } },
    );
    expect(ran.output).toBe("1 1 steps\n1 v\n");
    const read = ran.events.flatMap((event) => (event.type === "variable-read" ? [`${event.path} ${event.name}`] : []));
    expect(read).toEqual(["0 A", "0 CI_PROJECT_NAME", "1 inputs"]);
  });

  test("as a whole report every variable once, before the value is used", async () => {
    const takesAll = sh("echo ${{ inputs.all.B }}", { spec: { inputs: { all: input("struct") }, outputs: {} } });
    const ran = await run(sequence([call("a", "./a", { inputs: { all: "${{ vars }}" } })]), {
      vars: { A: "1", B: "2" },
      steps: { "./a": takesAll },
    });
    expect(ran.output).toBe("2\n");
    const types = ran.events.map((event) => event.type);
    expect(types.filter((type) => type === "variable-read")).toHaveLength(2);
    expect(types.lastIndexOf("variable-read")).toBeLessThan(types.lastIndexOf("step-planned"));
  });

  test("give results of earlier siblings", async () => {
    const maker = sh("echo n=41 > ${{ output_file }}; echo E=e > ${{ export_file }}", {
      spec: { inputs: {}, outputs: { n: input("number") } },
    });
    const ran = await run(
      sequence([
        call("make-it", "./make"),
        item(sh("echo $R"), {
          env: {
            R: '${{ steps["make-it"].outputs.n + 1 }} ${{ steps["make-it"].status }} ${{ steps["make-it"].exit_code }} ${{ steps["make-it"].exports.E }}',
          },
        }),
      ]),
      { steps: { "./make": maker } },
    );
    expect(ran.output).toBe("42 success 0 e\n");
  });

  test("explain an expression that fails with its place", async () => {
    const source = { name: "step.yml", text: 'env:\n  A: "x ${{ nope }}"\n' };
    const ran = await run(exec(["true"], { env: { A: "x ${{ nope }}" } }), {
      positionOf: (pointer) =>
        pointer === "/definition/env/A" ? { source, offset: 10, length: 15, line: 2, column: 6 } : undefined,
    });
    expect(ran.outcome.error?.code).toBe("EXPRESSION_FAILED");
    const note = ran.events.find((event): event is StepEvent & { type: "note" } => event.type === "note");
    expect(note).toMatchObject({ level: "error", code: "diagnostic" });
    expect(note?.message).toContain("step.yml:2:13: error:");
  });

  test("note the old dotted form at debug level", async () => {
    const ran = await run(
      sequence([call("a-b", "./a"), item(sh("echo $R"), { env: { R: "${{ steps.a-b.outputs.x }}" } })]),
      {
        steps: {
          "./a": sh("echo x=1 > ${{ output_file }}", { spec: { inputs: {}, outputs: { x: input("string") } } }),
        },
      },
    );
    expect(ran.output).toBe("1\n");
    expect(ran.events.filter((event) => event.type === "note")).toMatchObject([{ path: "1", level: "debug" }]);
  });
});

describe("references", () => {
  test("may be computed", async () => {
    const ran = await run(
      sequence([{ name: "a", step: { kind: "dynamic", text: "${{ './' + vars.WHICH }}" }, inputs: {}, env: {} }]),
      { vars: { WHICH: "b" }, steps: { "./b": sh("echo b") } },
    );
    expect(ran.output).toBe("b\n");
    expect(eventOf(ran, "step-planned", "0").reference).toEqual({ kind: "local", path: "./b" });
  });

  test("made of a secret are refused", async () => {
    const ran = await run(
      sequence([{ name: "a", step: { kind: "dynamic", text: "./${{ vars.S }}" }, inputs: {}, env: {} }]),
      { vars: { S: sensitive("s3cret") } },
    );
    expect(ran.outcome).toMatchObject({ status: "failure", error: { code: "REFERENCE_INVALID" } });
    expect(ran.outcome.error?.message).not.toContain("s3cret");
  });
});

describe("script items", () => {
  const script: SpecDefinition = exec(["sh", "-c", "${{ inputs.script }}"], {
    spec: { inputs: { script: input("string") }, outputs: {}, hasOpenOutputs: true },
  });

  test("write to the script's own files", async () => {
    const text =
      'echo \'{"name":"n","value":[1]}\' > ${{ output_file }}; echo raw=1 >> ${{ output_file }}; echo V=e > ${{ export_file }}';
    const ran = await run(
      sequence([
        { name: "s", step: { kind: "dist", path: "script" }, inputs: { script: text }, env: {} },
        item(sh("echo $R $V"), { env: { R: "${{ steps.s.outputs.n[0] }} ${{ steps.s.outputs.raw }}" } }),
      ]),
      { steps: { script } },
    );
    expect(ran.outcome).toEqual({ status: "success" });
    expect(ran.output).toBe("1 1 e\n");
    expect(ran.leftInTmp).toEqual([]);
  });
});
