import { existsSync } from "node:fs";
import { isSensitive, type RuntimeString, sensitive } from "@steps/model";
import type { SpecDefinition } from "@steps/model/definition";
import { describe, expect, test } from "vitest";
import { eventOf, exec, item, run, type Ran, sequence } from "./harness.ts";

const script: SpecDefinition = exec(["bash", "-e", "-o", "pipefail", "-c", "${{ inputs.script }}"], {
  spec: {
    inputs: { script: { type: "string", isSensitive: false } },
    outputs: {},
    hasOpenOutputs: true,
  },
});

function runScript(text: string): Promise<Ran> {
  const invocation = { name: "s", step: { kind: "dist", path: "script" }, inputs: { script: text }, env: {} } as const;
  return run(sequence([invocation]), { steps: { script } });
}

const padding = `# ${"x".repeat(1022)}\n`.repeat(1024);

test("a script of a mebibyte runs from a private file that does not outlive it", async () => {
  const ran = await runScript(`${padding}stat -c %a "$0"; false | true; echo not here`);
  expect(ran).toMatchObject({ output: "600\n", outcome: { status: "failure", exitCode: 1 }, leftInTmp: [] });
  const { command, places } = eventOf(ran, "process-starting", "0");
  const file = String(command.at(-1));
  expect(command).toEqual(["bash", "-e", "-o", "pipefail", file]);
  expect(file.startsWith(`${places.jobTmp}/`)).toBe(true);
  expect(existsSync(file)).toBe(false);
});

test("a long script gives outputs like a short one", async () => {
  const ran = await runScript(`${padding.slice(0, 1025 * 1000)}echo 'v=é' > \${{ output_file }}`);
  expect(eventOf(ran, "step-finished", "0")).toMatchObject({ status: "success", outputs: { v: "é" } });
});

test("a short script is an argument", async () => {
  const ran = await runScript("echo $0");
  expect(ran.output).toBe("bash\n");
  expect(eventOf(ran, "process-starting", "0").command.at(-1)).toBe("echo $0");
});

describe("a text with a secret", () => {
  const SECRET = "s3cret-canary";
  /** The arguments of every process that can be seen, by a process of the step's own. */
  const look = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -ac '[s]3cret-canary' || true";

  async function runWith(definition: SpecDefinition): Promise<Ran> {
    const invocation = {
      name: "s",
      step: { kind: "dist", path: "script" },
      inputs: { script: "${{ vars.TEXT }}" },
      env: {},
    } as const;
    return run(sequence([invocation]), {
      steps: { script: definition },
      vars: { TEXT: sensitive(text) as RuntimeString },
    });
  }
  const text = `: ${SECRET}; ${look}; stat -c %a "$0"`;
  const marked = (command: readonly string[]): SpecDefinition =>
    exec(command, {
      spec: { inputs: { script: { type: "string", isSensitive: true } }, outputs: {}, hasOpenOutputs: true },
    });

  test.each([
    ["the script step", ["bash", "-e", "-o", "pipefail", "-c", "${{ inputs.script }}"]],
    ["a shell that the author named", ["/bin/sh", "-c", "${{ inputs.script }}"]],
    ["a text around it", ["sh", "-eu", "-c", "echo began; ${{ inputs.script }}"]],
  ])("is in nobody's list of processes: %s", async (_name, command) => {
    const ran = await runWith(marked(command));
    expect(ran.outcome).toEqual({ status: "success" });
    expect(ran.output.replace("began\n", "")).toBe("0\n600\n");
    expect(ran.leftInTmp).toEqual([]);
    // The event has the text that the author wrote.
    const told = eventOf(ran, "process-starting", "0").command;
    expect(told.slice(0, -1)).toEqual(command.slice(0, -1));
    expect(isSensitive(told.at(-1) ?? "")).toBe(true);
    expect(ran.events.some((event) => event.type === "note")).toBe(false);
  });

  test("that has to be an argument is noted", async () => {
    const ran = await runWith(marked(["printf", "%.0s", "${{ inputs.script }}"]));
    const notes = ran.events.filter((event) => event.type === "note");
    expect(notes).toMatchObject([{ path: "0", level: "info", code: "secret-in-argument" }]);
    expect(notes[0]?.message).toContain("command[2] holds a secret");
  });
});

test("a long script for PowerShell is a file with the only ending that it takes", async () => {
  const steps = { script: exec(["echo", "-NoProfile", "-Command", "${{ inputs.script }}"], { spec: script.spec }) };
  const invocation = {
    name: "s",
    step: { kind: "dist", path: "script" },
    inputs: { script: padding },
    env: {},
  } as const;
  const ran = await run(sequence([invocation]), { steps });
  expect(ran.output).toMatch(/^-NoProfile -File \S+\.ps1\n$/);
  expect(ran.leftInTmp).toEqual([]);
});

test("the length that counts is that in bytes", async () => {
  expect((await runScript(`: ${"é".repeat(66_000)}`)).outcome).toEqual({ status: "success" });
});

test("a command that the author wrote stays as it is, and so does a script that cannot run", async () => {
  const own = await run(sequence([item(exec(["sh", "-c", padding]))]));
  expect(own.outcome).toMatchObject({ status: "error", error: { code: "SPAWN_FAILED" } });
  const nul = await runScript(`${padding}\0`);
  expect(nul.outcome).toMatchObject({ status: "error", error: { code: "SPAWN_FAILED" } });
});
