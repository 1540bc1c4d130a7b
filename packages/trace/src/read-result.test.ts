import { describe, expect, test } from "vitest";
import { decodeResult, decodeShown } from "./encode.ts";
import { formatTrace } from "./show.ts";

const gitlab = {
  step: { name: "greet", step: { protocol: "local", paths: { parts: [".", "greet"] } }, inputs: { who: "me" } },
  specDefinition: {
    spec: { spec: { inputs: { who: { type: "string" } }, outputMethod: "outputs" } },
    definition: { type: "exec", exec: { command: ["echo", "${{ inputs.who }}"], timeout: "5s" } },
  },
  status: "failure",
  outputs: { x: { value: "a", masked: 1 } },
  exports: { A: "1" },
  env: { PATH: "/bin" },
  execResult: { command: ["echo", "me"], workDir: "/w", exitCode: 3 },
};

const blueprint = {
  step: { name: "job" },
  status: 3,
  def: { type: "steps", steps: [{ name: "greet", step: "gitlab.com/components/greet@v1" }] },
  children_step_results: [
    {
      step: { name: "greet", step: "gitlab.com/components/greet@v1", inputs: { who: "me" } },
      spec: { spec: { inputs: { who: { type: 5, default: [] }, b: { type: "bool" } } } },
      def: { type: 1, exec: { command: ["echo"], work_dir: "." } },
      status: "failure",
      outputs: { a: { key: "a", value: "1" }, b: { key: "b", value: "hunter2", masked: true } },
      exports: { A: "1" },
      exit_code: 3,
    },
  ],
};

describe("decodeResult()", () => {
  test("reads what GitLab's step runner writes as it stands", async () => {
    expect(await decodeResult(JSON.stringify(gitlab))).toEqual(gitlab);
  });

  test("reads the shape of the blueprint", async () => {
    const reference = { protocol: "git", url: "https://gitlab.com/components/greet", version: "v1" };
    const read = await decodeResult(JSON.stringify(blueprint));
    expect(read).toMatchObject({ step: { name: "job" }, status: "failure" });
    expect(read.specDefinition?.definition?.steps?.[0]).toMatchObject({ name: "greet", step: reference });
    expect(read.subStepResults).toMatchObject([
      {
        step: { name: "greet", step: reference, inputs: { who: "me" } },
        specDefinition: {
          spec: { spec: { inputs: { who: { type: "array", default: [] }, b: { type: "boolean" } } } },
          definition: { type: "exec", exec: { command: ["echo"], workDir: "." } },
        },
        status: "failure",
        outputs: { a: "1", b: "[MASKED]" },
        exports: { A: "1" },
        execResult: { exitCode: 3 },
      },
    ]);
    expect(JSON.stringify(read)).not.toContain("hunter2");
  });

  test("keeps an output that only looks like one of the blueprint", async () => {
    const read = await decodeResult(JSON.stringify({ ...gitlab, outputs: { x: { value: "a" } } }));
    expect(read.outputs).toEqual({ x: { value: "a" } });
  });

  test.each(["[]", "1", "null", "x", '{"status": "great"}', '{"outputs": 1}', '{"def": {"exec": 1}}'])(
    "refuses %s",
    async (text) => {
      await expect(decodeResult(text)).rejects.toMatchObject({ code: "TRACE_INVALID" });
    },
  );

  test("refuses what is nested too deeply, in either shape", async () => {
    const nest = (key: string) => `{"status":"success","${key}":[`.repeat(2000) + "]}".repeat(2000);
    for (const key of ["childrenStepResults", "subStepResults"]) {
      await expect(decodeResult(nest(key))).rejects.toMatchObject({ code: "TRACE_INVALID" });
    }
  });
});

describe("decodeShown()", () => {
  test.each([gitlab, blueprint])("shows a result tree", async (json) => {
    const text = formatTrace(await decodeShown(JSON.stringify(json)), { width: 100, hasColor: false });
    expect(text).toContain("greet");
    expect(text).toContain("3");
  });

  test("reads a trace as a trace", async () => {
    await expect(decodeShown('{"formatVersion":1}')).rejects.toMatchObject({
      message: expect.stringContaining("steps"),
    });
  });
});
