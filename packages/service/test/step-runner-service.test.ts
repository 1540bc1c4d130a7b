import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { ViolationsSchema } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  DefinitionType,
  OutputMethod,
  RunStatus,
  StepReferenceProtocol,
  StepResult_Status,
  StepSchema,
  ValueType,
} from "@steps/proto";
import { FollowIOResponse_StreamType, Job_JobStatus, RunRequest_StepType } from "@steps/proto/service";
import { decodeTrace } from "@steps/trace";
import { describe, expect, test } from "vitest";
import { openWorld, readAll, type World } from "./harness.ts";

async function refusal(call: Promise<unknown>): Promise<ConnectError> {
  try {
    await call;
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("The call was not refused");
}

async function drain(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

const script = (text: string) => ({ ciScript: text });

/** All that the files below a folder hold. */
function readBelow(dir: string): string {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}

async function finished({ ours }: World, id: string) {
  let last;
  for await (const state of ours.follow({ id })) last = state;
  if (last?.job === undefined) throw new Error("There was no state");
  return { result: last.result, job: last.job };
}

describe("Run", () => {
  test("a script runs, is followed to its end and is listed", async () => {
    const world = await openWorld();
    await world.ours.run({ id: "a", ...script("echo out; echo err >&2; echo $GREETING"), env: { GREETING: "hi" } });
    expect(await readAll(world.ours, "a")).toEqual({ stdout: "out\nhi\n", stderr: "err\n" });
    const { job, result } = await finished(world, "a");
    expect(result?.status).toBe(StepResult_Status.success);
    expect(job).toMatchObject({ status: Job_JobStatus.suceeded, runStatus: RunStatus.success, exitCode: 0 });
    expect([job.stdoutBytes, job.stderrBytes]).toEqual([7n, 4n]);
    const list = await world.ours.list({});
    expect(list.jobs.map(({ id }) => id)).toEqual(["a"]);
    expect(list.runner).toMatchObject({ name: "test", version: "1" });
    expect(list.instance).toBe(world.jobs.instance);
  });

  test("tools of a job are told how much to say by its variables", async () => {
    const world = await openWorld();
    const variables = [{ key: "CI_STEPS_LOG_LEVEL", value: " Debug" }];
    await world.ours.run({ id: "a", ...script("echo $CI_STEPS_LOG_LEVEL"), variables });
    await world.ours.run({ id: "b", ...script("echo $CI_STEPS_LOG_LEVEL") });
    expect((await readAll(world.ours, "a")).stdout).toBe("debug\n");
    expect((await readAll(world.ours, "b")).stdout).toBe("info\n");
  });

  test("a job grants its secrets to the steps that ask for them, and they are masked for all", async () => {
    const world = await openWorld();
    const dir = join(world.dir, "push");
    mkdirSync(dir);
    writeFileSync(
      join(dir, "step.yml"),
      "spec: {secrets: {token: {env: PUSH_TOKEN}, key: {as: file, required: false}}}\n---\n" +
        `exec: {command: [sh, -c, 'echo "$PUSH_TOKEN"; echo \${#PUSH_TOKEN}; cat "$KEY"; stat -c %a "$KEY"']}\n`,
    );
    const definition =
      "- {name: a, step: ./push, secrets: [token, key]}\n- {name: b, script: 'echo ${PUSH_TOKEN-none}'}\n";
    const secrets = { token: "tok-12345678", key: "line-one-secret" };
    await world.ours.run({ id: "a", definition, secrets });
    expect((await readAll(world.ours, "a")).stdout).toBe("[MASKED]\n12\n[MASKED]600\nnone\n");
    const { job } = await finished(world, "a");
    expect(job.runStatus).toBe(RunStatus.success);
    const parts: Buffer[] = [];
    for await (const { data } of world.ours.getTrace({ id: "a" })) parts.push(Buffer.from(data));
    expect(Buffer.concat(parts).toString()).toContain('"token"');
    expect(Buffer.concat(parts).toString()).not.toMatch(/tok-12345678|line-one-secret/);
    expect(/tok-12345678|line-one-secret/.test(readBelow(world.dir))).toBe(false);
    // A step that asks for what the job was not given does not start.
    await world.ours.run({ id: "b", definition, secrets: { key: "line-one-secret" } });
    expect((await readAll(world.ours, "b")).stdout).toBe("");
    expect((await finished(world, "b")).job.runStatus).not.toBe(RunStatus.success);
    const error = await refusal(world.ours.run({ id: "c", definition, secrets: { "a b": "x" } }));
    expect(error.code).toBe(Code.InvalidArgument);
  });

  test("steps are the baseline message, whose references are resolved from the working directory", async () => {
    const world = await openWorld();
    const specDef = {
      spec: { spec: { inputs: { who: { type: ValueType.string } }, outputMethod: OutputMethod.outputs } },
      definition: { type: DefinitionType.exec, exec: { command: ["echo", "hello ${{ inputs.who }}"] } },
    };
    const who = create(ValueSchema, { kind: { case: "stringValue", value: "world" } });
    const step = create(StepSchema, {
      name: "greet",
      step: { protocol: StepReferenceProtocol.spec_def, specDef },
      inputs: { who },
    });
    await world.ours.run({ id: "a", type: RunRequest_StepType.step, steps: [step] });
    expect((await readAll(world.ours, "a")).stdout).toBe("hello world\n");
  });

  test("a definition with inputs, variables, a file and what is to be masked", async () => {
    const world = await openWorld();
    const definition = `
spec:
  inputs:
    who: {type: string}
    pass: {type: string, sensitive: true}
---
run:
  - name: say
    script: echo "\${{ inputs.who }} \${{ inputs.pass }} \${{ vars.TOKEN }} \${{ vars.PLAIN }} phrase-to-hide"; cat "\${{ vars.CONFIG }}"
`;
    const text = (value: string) => create(ValueSchema, { kind: { case: "stringValue", value } });
    await world.ours.run({
      id: "a",
      definition,
      source: "steps.yml",
      inputs: { who: text("me"), pass: text("correct-horse") },
      variables: [
        { key: "TOKEN", value: "tok-12345678", masked: true },
        { key: "PLAIN", value: "plain" },
        { key: "CONFIG", value: "from a file\n", file: true },
      ],
      maskedValues: ["phrase-to-hide"],
      jobName: "build",
    });
    expect((await readAll(world.ours, "a")).stdout).toBe("me [MASKED] [MASKED] plain [MASKED]\nfrom a file\n");
  });

  test.each([
    [{}, "One of steps, ci_script and definition has to be given; found none of them"],
    [{ ciScript: "a", definition: "b" }, "found ci_script and definition"],
    [{ ciScript: "a", type: RunRequest_StepType.step }, "type: the request is of type steps and has ci_script"],
    [{ definition: "[]", type: RunRequest_StepType.script }, "type: the request is of type ci_script"],
    [{ ciScript: "a", workDir: "here" }, 'work_dir: "here" is not an absolute path'],
    [{ ciScript: "a", env: { A: "a\0b" } }, "NUL"],
    [{ ciScript: "a", timeout: { nanos: -1_000_000 } }, "timeout: a duration cannot be negative"],
    [{ ciScript: "a", variables: [{ key: "CI_STEPS_LOG_LEVEL", value: "loud" }] }, 'log level: "loud" not supported'],
  ])("%j is refused", async (request, message) => {
    const { ours } = await openWorld();
    const error = await refusal(ours.run({ id: "a", ...request }));
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage).toContain(message);
    expect((await ours.list({})).jobs).toEqual([]);
  });

  test("everything that is wrong with a definition is said at once, without the secrets in it", async () => {
    const { ours } = await openWorld();
    const definition = "- {name: a, scrip: echo}\n- {name: b, script: echo, env: {x: {y: tok-12345678}}}\n";
    const variables = [{ key: "T", value: "tok-12345678", masked: true }];
    const error = await refusal(ours.run({ id: "a", definition, variables, source: "ci/steps.yml" }));
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage).toMatch(/ci\/steps\.yml:1:/);
    expect(error.rawMessage).toMatch(/ci\/steps\.yml:2:/);
    expect(error.rawMessage).not.toContain("tok-12345678");
    expect(error.metadata.get("step-runner-error")).toBe("REQUEST_INVALID");
  });

  test("a thousand errors fit into a trailer", async () => {
    const { ours } = await openWorld();
    const definition = Array.from({ length: 1000 }, (_, i) => `- {name: "ä ${i}", scrip: echo}`).join("\n");
    const error = await refusal(ours.run({ id: "a", definition }));
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage).toMatch(/and \d+ more$/);
  });

  test("the same request again changes nothing, another one under its id is refused", async () => {
    const { ours, dir } = await openWorld();
    const request = { id: "a", ...script(`echo ran >> ${dir}/count`), env: { A: "1", B: "2" } };
    await ours.run(request);
    await ours.run({ ...request, env: { B: "2", A: "1" } });
    await drain(ours.follow({ id: "a" }));
    await ours.run(request);
    expect((await refusal(ours.run({ ...request, env: { A: "2" } }))).code).toBe(Code.AlreadyExists);
    expect(readFileSync(`${dir}/count`, "utf8")).toBe("ran\n");
  });

  test("a request that comes after its job was closed does not run again, one with another nonce does", async () => {
    const { ours } = await openWorld();
    const request = { id: "a", ...script("true"), nonce: "1" };
    await ours.run(request);
    await drain(ours.follow({ id: "a" }));
    await ours.close({ id: "a" });
    const error = await refusal(ours.run(request));
    expect([error.code, error.metadata.get("step-runner-error")]).toEqual([Code.FailedPrecondition, "JOB_CLOSED"]);
    await ours.run({ ...request, nonce: "2" });
  });

  test("too many jobs at once are refused", async () => {
    const { ours } = await openWorld({ maxJobs: 1 });
    await ours.run({ id: "a", ...script("sleep 60") });
    expect((await refusal(ours.run({ id: "b", ...script("true") }))).code).toBe(Code.ResourceExhausted);
  });
});

describe("rules of the schema", () => {
  test("the rule of the seed names the environment", async () => {
    const { ours } = await openWorld();
    const error = await refusal(ours.run({ id: "a", ...script("true"), env: { "A-B": "x" } }));
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage).toContain("env must be alphanumeric with underscores");
    const [violations] = error.findDetails(ViolationsSchema);
    expect(violations?.violations.map(({ ruleId }) => ruleId)).toEqual(["env"]);
  });

  test.each([
    ["a head with a line feed", { a: "one\ntwo" }],
    ["an empty head", { a: "" }],
    ["a name that is none of a section", { "a b": "head" }],
    ["too many", Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`s${i}`, "head"]))],
  ])("sections: %s", async (_what, sections) => {
    const { ours } = await openWorld();
    const error = await refusal(ours.run({ id: "a", ...script("true"), sections }));
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage).toContain("sections must be 100 at most");
  });

  test.each([
    ["run", {}, "id"],
    ["run", { id: "a", variables: [{ key: "A B" }] }, "variables[0].key"],
    ["follow", {}, "id"],
    ["followIO", { id: "a", readStdout: -1 }, "read_stdout"],
    ["cancel", {}, "id"],
    ["close", {}, "id"],
    ["getTrace", {}, "id"],
  ] as const)("%s %j: %s", async (method, request, field) => {
    const { ours } = await openWorld();
    const answer = ours[method](request as never);
    const error = await refusal(answer instanceof Promise ? answer : drain(answer));
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage.startsWith(`${field}: `)).toBe(true);
    expect(error.findDetails(ViolationsSchema)).toHaveLength(1);
  });
});

describe("FollowIO", () => {
  test("a wide offset obeys its rule too", async () => {
    const { ours } = await openWorld();
    const error = await refusal(drain(ours.followIO({ id: "a", stderrOffset: -1n })));
    expect([error.code, error.rawMessage.split(":")[0]]).toEqual([Code.InvalidArgument, "stderr_offset"]);
  });

  test("goes on at any offset, by either kind of offset", async () => {
    const { ours } = await openWorld();
    await ours.run({ id: "a", ...script("printf abcdef; printf uvwxyz >&2") });
    await drain(ours.follow({ id: "a" }));
    const read = async (request: object) => {
      const texts = { stdout: "", stderr: "" };
      for await (const { stream, streamType } of ours.followIO({ id: "a", ...request }))
        texts[streamType === FollowIOResponse_StreamType.stdout ? "stdout" : "stderr"] +=
          Buffer.from(stream).toString();
      return texts;
    };
    expect(await read({ readStdout: 2, readStderr: 6 })).toEqual({ stdout: "cdef", stderr: "" });
    // The wide ones win.
    expect(await read({ readStdout: 2, stdoutOffset: 4n, stderrOffset: 5n })).toEqual({ stdout: "ef", stderr: "z" });
    expect((await refusal(drain(ours.followIO({ id: "a", readStdout: 7 })))).code).toBe(Code.OutOfRange);
  });

  test("says where each piece is in its stream", async () => {
    const { ours } = await openWorld();
    await ours.run({ id: "a", ...script("for i in 1 2 3; do echo $i; echo e$i >&2; sleep 0.05; done") });
    const at = { 0: 0n, 1: 0n };
    for await (const { stream, streamType, offset } of ours.followIO({ id: "a" })) {
      const key = streamType === FollowIOResponse_StreamType.stdout ? 0 : 1;
      expect(offset).toBe(at[key]);
      at[key] += BigInt(stream.length);
    }
    expect(at).toEqual({ 0: 6n, 1: 9n });
  });
});

describe("Follow, Cancel, Close, GetTrace", () => {
  test("who comes late gets the current tree first", async () => {
    const { ours } = await openWorld();
    await ours.run({ id: "a", definition: "- {name: one, script: 'true'}\n- {name: two, script: 'exit 3'}" });
    await drain(ours.follow({ id: "a" }));
    const states = (await drain(ours.follow({ id: "a" }))) as Awaited<ReturnType<typeof finished>>[];
    expect(states).toHaveLength(1);
    expect(states[0]?.result?.subStepResults.map(({ status }) => status)).toEqual([
      StepResult_Status.success,
      StepResult_Status.failure,
    ]);
    expect(states[0]?.job).toMatchObject({ status: Job_JobStatus.failed, runStatus: RunStatus.failure, exitCode: 3 });
    expect(states[0]?.job.error?.message).toContain("exit status 3");
  });

  test("a cancelled job ends, and may be cancelled again", async () => {
    const world = await openWorld();
    await world.ours.run({ id: "a", ...script("echo go; sleep 60") });
    const output = world.ours.followIO({ id: "a" })[Symbol.asyncIterator]();
    await output.next();
    await world.ours.cancel({ id: "a" });
    expect((await finished(world, "a")).job).toMatchObject({ runStatus: RunStatus.cancelled, exitCode: 143 });
    await world.ours.cancel({ id: "a" });
    expect((await output.next()).done).toBe(true);
  });

  test("a timeout is one", async () => {
    const world = await openWorld();
    await world.ours.run({ id: "a", ...script("sleep 60"), timeout: { nanos: 200_000_000 } });
    expect((await finished(world, "a")).job).toMatchObject({ runStatus: RunStatus.timeout, exitCode: 124 });
  });

  test("an unknown job is NOT_FOUND, but for Close", async () => {
    const { ours } = await openWorld();
    for (const call of [
      ours.cancel({ id: "x" }),
      drain(ours.follow({ id: "x" })),
      drain(ours.followIO({ id: "x" })),
      drain(ours.getTrace({ id: "x" })),
    ])
      expect((await refusal(call)).code).toBe(Code.NotFound);
    await ours.close({ id: "x" });
    expect((await ours.list({ ids: ["x"] })).jobs).toEqual([]);
  });

  test("the trace is there when the job has ended", async () => {
    const { ours } = await openWorld();
    await ours.run({ id: "a", ...script("sleep 60") });
    const error = await refusal(drain(ours.getTrace({ id: "a" })));
    expect([error.code, error.metadata.get("step-runner-error")]).toEqual([Code.FailedPrecondition, "JOB_RUNNING"]);
    await ours.cancel({ id: "a" });
    await drain(ours.follow({ id: "a" }));
    const parts: Buffer[] = [];
    for await (const { data } of ours.getTrace({ id: "a" })) parts.push(Buffer.from(data));
    expect((await decodeTrace(Buffer.concat(parts).toString())).request?.entry).toBe("service");
  });

  test("what the caller says of a job is the first note of its trace, masked", async () => {
    const { ours } = await openWorld();
    const notes = [{ level: "info", code: "container-image", message: "It runs in top-secret-image" }];
    await ours.run({ id: "a", ...script("true"), maskedValues: ["top-secret"], notes });
    await drain(ours.follow({ id: "a" }));
    const parts: Buffer[] = [];
    for await (const { data } of ours.getTrace({ id: "a" })) parts.push(Buffer.from(data));
    const trace = await decodeTrace(Buffer.concat(parts).toString());
    expect(trace.notes?.[0]).toContain("It runs in [MASKED]-image");
    const error = await refusal(ours.run({ id: "b", ...script("true"), notes: [{ ...notes[0], level: "loud" }] }));
    expect([error.code, error.rawMessage.split(":")[0]]).toEqual([Code.InvalidArgument, "notes[0].level"]);
  });

  test("the output of a step is a section of the log where the caller wants one", async () => {
    const { ours } = await openWorld();
    await ours.run({ id: "a", ...script("echo hello"), sections: { script: "The script" } });
    const parts: Buffer[] = [];
    for await (const { stream } of ours.followIO({ id: "a" })) parts.push(Buffer.from(stream));
    expect(Buffer.concat(parts).toString()).toMatch(
      // oxlint-disable-next-line no-control-regex -- marks are made of them
      /^section_start:\d+:script\r\u001B\[0K\S*The script\S*\n[^]*hello\nsection_end:\d+:script\r\u001B\[0K$/,
    );
  });

  test("a closed job is forgotten", async () => {
    const { ours } = await openWorld();
    await ours.run({ id: "a", ...script("sleep 60") });
    await ours.close({ id: "a" });
    expect((await ours.list({})).jobs).toEqual([]);
    expect((await refusal(drain(ours.follow({ id: "a" })))).code).toBe(Code.NotFound);
  });
});
