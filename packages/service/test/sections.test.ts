import { expect, test } from "vitest";
import type { JobHandle } from "../src/index.ts";
import { never, openTable, stepsJob } from "./jobs-support.ts";

/** The output of both streams in order of arrival, with a line for each mark. */
async function logOf(job: JobHandle): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const { bytes } of job.readOutput({ stdout: 0, stderr: 0 }, never)) parts.push(bytes);
  return Buffer.concat(parts)
    .toString()
    .replaceAll(/section_(start|end):\d{10}:([\w.-]+)\r\u001B\[0K/g, "<$1 $2>")
    .replaceAll(/\u001B\[[\d;]*m/g, "");
}

test("the output of named steps is a section with its head, which ends however the step does", async () => {
  const table = await openTable();
  const steps = [
    { name: "first", script: "echo one; printf two" },
    { name: "without", script: "echo three" },
    { name: "skipped", script: "echo four", if: "${{ false }}" },
    { name: "last", script: "printf five; exit 3" },
    { name: "never", script: "echo six" },
  ];
  const sections = { first: "The first", skipped: "Not seen", last: "The last", never: "Not seen", other: "Not there" };
  const job = table.run({ ...stepsJob(table.dir, steps), sections });
  expect(await logOf(job)).toBe(
    "<start first>The first\none\ntwo\n<end first>three\n<start last>The last\nfive\n<end last>",
  );
  // The marks are among the bytes that a follower counts, so that each of them is read once.
  expect(job.info.stdoutBytes).toBe("one\ntwothree\nfive".length);
  expect(job.info.stderrBytes).toBeGreaterThan(0);
});

test("a cancelled step ends its section", async () => {
  const table = await openTable();
  const steps = [{ name: "wait", script: "echo in; exec sleep 600" }];
  const job = table.run({ ...stepsJob(table.dir, steps), sections: { wait: "Waiting" } });
  for await (const { stream } of job.readOutput({ stdout: 0, stderr: 0 }, never)) if (stream === "stdout") break;
  job.cancel();
  expect(await logOf(job)).toMatch(/^<start wait>Waiting\nin\n(?:.*\n)*<end wait>$/);
});

test("a head is masked, and a section whose name holds a secret has no marks", async () => {
  const table = await openTable();
  const plain = stepsJob(table.dir, [
    { name: "secret-step", script: "echo one" },
    { name: "step", script: "echo two" },
  ]);
  const job = table.run({
    ...plain,
    job: { ...plain.job, maskedValues: ["secret-step", "hidden-word"] },
    sections: { "secret-step": "Not seen", step: "A hidden-word" },
  });
  expect(await logOf(job)).toBe("one\n<start step>A [MASKED]\ntwo\n<end step>");
});
