import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRunner, numbersIn, numbersTo, scriptJob } from "./runner-harness.ts";

const MARK = /section_(start|end):\d+:([\w.-]+)\r\u001B\[0K/g;

/** The marks of a trace in their order: `+name` where a section begins, `-name` where it ends. */
function marksIn(trace: Buffer): readonly string[] {
  return Array.from(trace.toString().matchAll(MARK), ([, what, name]) => `${what === "start" ? "+" : "-"}${name}`);
}

/** The text of a trace with a line for each mark, and without colours. */
function readable(trace: Buffer): string {
  return trace
    .toString()
    .replaceAll(MARK, (_, what, name) => `<${what} ${name}>`)
    .replaceAll(/\u001B\[[\d;]*m/g, "");
}

test("a trace has gitlab-runner's sections around the phases that ran, with a line that heads each", async () => {
  const world = await createRunner("--name", "machine");
  const { server } = world;
  const job = server.queue(
    scriptJob(1, [], {
      features: { trace_sections: true },
      variables: [
        { key: "GIT_STRATEGY", value: "none" },
        { key: "SECRET", value: "hunter2hunter2", masked: true },
      ],
      steps: [
        { name: "script", script: ["echo $SECRET; printf 'no line feed'; exit 3"] },
        { name: "after_script", script: ["echo after"] },
      ],
      artifacts: [{ name: "files", paths: ["out/"], when: "on_success" }],
    }),
  );
  const runner = world.start();
  await server.until(() => job.end);
  runner.child.kill("SIGTERM");
  await runner.ended;
  expect(readable(job.trace)).toMatch(
    new RegExp(
      [
        "^Running with steps-runner .*\n  on machine .*\n",
        '<start prepare_executor>Preparing the "host" executor\nUsing the host executor on .*\n<end prepare_executor>',
        "[^]*",
        '<start step_script>Executing "step_script" stage of the job script\n',
        "[^]*\n\\[MASKED\\]\nno line feed\n<end step_script>",
        "<start after_script>Running after_script\n[^]*\nafter\n<end after_script>",
        "ERROR: Job failed: exit code 3\n$",
      ].join(""),
    ),
  );
  // What did not run has no section: the artifacts of a success.
  expect(marksIn(job.trace).filter((mark) => mark.includes("upload"))).toEqual([]);
  expect(server.complaints).toEqual([]);
});

test("tokens after the prefixes that the server names are in no trace", async () => {
  const world = await createRunner();
  const { server } = world;
  const many = Array.from({ length: 15 }, (_, n) => `acme${n}-`);
  const job = server.queue(
    scriptJob(1, ["echo acme0-; printf acme14-S3cr; echo 3t,acme15-shown"], {
      features: { token_mask_prefixes: [...many, "acme15-"] },
    }),
  );
  const runner = world.start();
  await server.until(() => job.end);
  runner.child.kill("SIGTERM");
  await runner.ended;
  const trace = readable(job.trace);
  expect(trace).toContain("acme0-\nacme14-[MASKED],acme15-shown\n");
  expect(trace).not.toContain("S3cr");
  expect(trace).toContain("The server names 1 prefix of tokens that are not masked");
  expect(server.complaints).toEqual([]);
});

test("runners that are killed again and again write each mark once, and the server has the bytes that they have", async () => {
  const world = await createRunner();
  const { server } = world;
  server.traceInterval = 1;
  const script = "i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo n$i; [ $((i % 20)) = 0 ] && sleep 0.2; done; true";
  const job = server.queue(scriptJob(1, [script], { features: { trace_sections: true } }));
  for (const seen of [
    () => job.states.length > 0,
    () => job.trace.length > 0,
    () => numbersIn(job.trace).length > 100,
  ]) {
    const runner = world.start();
    await server.until(() => (seen() ? true : undefined));
    runner.child.kill("SIGKILL");
    await runner.ended;
    const [kept = ""] = world.kept();
    const path = join(world.dir, "state/runner-bridge/runner/jobs", kept, "trace");
    const file = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    // What the runner has and the server has not is sent by the next one.
    expect(file.subarray(0, job.trace.length)).toEqual(job.trace);
  }
  const last = world.start();
  await server.until(() => job.end);
  last.child.kill("SIGTERM");
  await last.ended;
  const marks = marksIn(job.trace);
  expect(marks.filter((mark) => mark.endsWith("prepare_executor"))).toEqual(["+prepare_executor", "-prepare_executor"]);
  expect(marks.filter((mark) => mark.endsWith("step_script"))).toEqual(["+step_script", "-step_script"]);
  expect(numbersIn(job.trace)).toEqual(numbersTo(400));
  expect(server.complaints).toEqual([]);
});
