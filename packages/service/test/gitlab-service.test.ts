import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import { gitlab } from "@steps/proto/service";
import { describe, expect, test } from "vitest";
import { callRaw, openSession, openWorld, type World } from "./harness.ts";

async function refusal(call: Promise<unknown>): Promise<ConnectError> {
  try {
    await call;
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("The call was not refused");
}

const steps = (script: string): string => `{}\n---\nrun:\n  - name: it\n    script: |\n      ${script}\n`;

/** Follows as GitLab's runner does, and gives the bodies of the lines by stream. */
async function followLines({ theirs }: World, id: string): Promise<string[]> {
  const chunks: Buffer[] = [];
  for await (const { data } of theirs.followLogs({ id })) chunks.push(Buffer.from(data));
  const text = Buffer.concat(chunks).toString();
  expect(text === "" || text.endsWith("\n")).toBe(true);
  return text.split("\n").slice(0, -1);
}

const HEADER = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z [0-9a-f]{2}[OE][ +]/;

describe("as GitLab's runner calls it", () => {
  test("a job runs, its log has stamps, its status is success", async () => {
    const world = await openWorld();
    const { theirs, dir } = world;
    const buildDir = join(dir, "builds", "project");
    await theirs.run({
      id: "42",
      workDir: "/does/not/matter",
      job: { buildDir, variables: [{ key: "CI_JOB_TOKEN", value: "glcbt-64_secret", masked: true }] },
      steps: steps("pwd; echo \\${{ vars.CI_JOB_TOKEN }} >&2; echo; echo end".replace("\\", "")),
    });
    const lines = await followLines(world, "42");
    for (const line of lines) expect(line).toMatch(HEADER);
    const bodies = (letter: string) => lines.filter((line) => line[30] === letter).map((line) => line.slice(32));
    expect(bodies("O")).toEqual(expect.arrayContaining([buildDir, "", "end"]));
    expect(lines.join("\n")).not.toContain("glcbt-64_secret");
    const { jobs } = await theirs.status({ id: "42" });
    expect(jobs).toMatchObject([{ id: "42", message: "", status: gitlab.StepResult_Status.success }]);
    expect(jobs[0]?.endTime).toBeDefined();
    expect(statSync(buildDir).mode & 0o777).toBe(0o700);
    await theirs.close({ id: "42" });
    await theirs.close({ id: "42" });
    expect((await refusal(theirs.status({ id: "42" }))).code).toBe(Code.NotFound);
  });

  test.each([
    { name: "build_dir", request: { workDir: "/does/not/matter", job: { buildDir: "builds/group/project" } } },
    { name: "work_dir", request: { workDir: "builds/group/project" } },
  ])("a relative $name, as that of an instance, is one below the service's directory, and is made", async (given) => {
    const world = await openWorld();
    await world.theirs.run({ id: "1", ...given.request, steps: steps("pwd") });
    const lines = await followLines(world, "1");
    expect(lines.map((line) => line.slice(32))).toContain(join(world.dir, "builds/group/project"));
    expect(statSync(join(world.dir, "builds/group/project")).mode & 0o777).toBe(0o700);
  });

  test("the message of a failed job ends in its exit status", async () => {
    const world = await openWorld();
    await world.theirs.run({ id: "1", steps: steps("exit 7") });
    await followLines(world, "1");
    const { jobs } = await world.theirs.status({});
    expect(jobs[0]?.status).toBe(gitlab.StepResult_Status.failure);
    expect(jobs[0]?.message).toMatch(/: exit status 7$/);
    expect(jobs[0]?.$unknown).toBeUndefined();
  });

  test("a cancelled job is", async () => {
    const world = await openWorld();
    await world.theirs.run({ id: "1", steps: steps("echo started; sleep 60") });
    const lines = followLines(world, "1");
    await world.theirs.cancel({ id: "1" });
    await lines;
    const { jobs } = await world.theirs.status({ id: "1" });
    expect(jobs[0]).toMatchObject({ status: gitlab.StepResult_Status.cancelled });
    expect(jobs[0]?.message).toMatch(/exit status 143$/);
  });

  test("a repetition is answered, whatever is in it", async () => {
    const world = await openWorld();
    const { theirs, dir } = world;
    await theirs.run({ id: "1", steps: steps(`echo ran >> ${dir}/count`) });
    await followLines(world, "1");
    await theirs.run({ id: "1", steps: steps(`echo again >> ${dir}/count`) });
    await theirs.run({ id: "1", steps: "not even steps" });
    expect(readFileSync(join(dir, "count"), "utf8")).toBe("ran\n");
  });

  test("environments of any process are taken, those of none are not", async () => {
    const world = await openWorld();
    await world.theirs.run({
      id: "1",
      env: { "BASH_FUNC_x%%": "() { echo; }", A: "from-env" },
      steps: steps("echo $A"),
    });
    expect((await followLines(world, "1")).at(-1)).toMatch(/from-env$/);
    for (const name of ["", "A=B", "A\0"])
      expect((await refusal(world.theirs.run({ id: "2", env: { [name]: "x" }, steps: steps("true") }))).code).toBe(
        Code.InvalidArgument,
      );
  });

  test("refusals", async () => {
    const { theirs } = await openWorld();
    const follow = async (request: object): Promise<void> => {
      for await (const message of theirs.followLogs(request)) void message;
    };
    expect((await refusal(theirs.run({ id: "", steps: steps("true") }))).code).toBe(Code.InvalidArgument);
    const bad = await refusal(theirs.run({ id: "1", steps: "{}\n---\nrun:\n  - nme: a\n" }));
    expect([bad.code, bad.rawMessage]).toEqual([Code.InvalidArgument, expect.stringContaining("steps:4:")]);
    expect((await refusal(theirs.status({ id: "x" }))).code).toBe(Code.NotFound);
    expect((await refusal(theirs.cancel({ id: "x" }))).code).toBe(Code.NotFound);
    expect((await refusal(follow({ id: "x" }))).code).toBe(Code.NotFound);
    await theirs.run({ id: "1", steps: steps("true") });
    expect((await refusal(follow({ id: "1", offset: -1n }))).code).toBe(Code.InvalidArgument);
  });

  test("the log can be followed from any offset, and past its end there is nothing", async () => {
    const world = await openWorld();
    await world.theirs.run({ id: "1", steps: steps("seq 1 200") });
    const read = async (offset: bigint): Promise<Buffer> => {
      const chunks: Buffer[] = [];
      for await (const { data } of world.theirs.followLogs({ id: "1", offset })) chunks.push(Buffer.from(data));
      return Buffer.concat(chunks);
    };
    const whole = await read(0n);
    for (const offset of [1, 31, 32, 1000, whole.length]) {
      expect((await read(BigInt(offset))).equals(whole.subarray(offset))).toBe(true);
    }
    expect((await read(BigInt(whole.length + 10))).length).toBe(0);
  });

  test("jobs of either service are visible to both", async () => {
    const world = await openWorld();
    await world.theirs.run({ id: "theirs", steps: steps("true") });
    await world.ours.run({ id: "ours", ciScript: "true" });
    expect((await world.ours.list({})).jobs.map(({ id }) => id)).toEqual(["theirs", "ours"]);
    expect((await world.theirs.status({})).jobs.map(({ id }) => id)).toEqual(["theirs", "ours"]);
    expect((await followLines(world, "ours")).every((line) => HEADER.test(line))).toBe(true);
  });
});

describe("bytes of version 0.11", () => {
  const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ""), "hex");

  test("a request as Go writes it", async () => {
    // 1: "42", 2: "/w", 3: {A: "b"}, 5: {1: {1: "K", 2: "v", 3: true, 4: true}, 4: "/b"}, 6: "s"
    const bytes = hex("0a023432 12022f77 1a06 0a0141 120162 2a10 0a0a 0a014b 120176 1801 2001 22022f62 320173");
    const request = fromBinary(gitlab.RunRequestSchema, bytes);
    expect(request).toMatchObject({
      id: "42",
      workDir: "/w",
      env: { A: "b" },
      job: { buildDir: "/b", variables: [{ key: "K", value: "v", file: true, masked: true }] },
      steps: "s",
    });
    expect(Buffer.from(toBinary(gitlab.RunRequestSchema, request)).equals(bytes)).toBe(true);
  });

  test("answers as Go reads them", async () => {
    const world = await openWorld();
    const session = openSession(world.socket);
    const text = steps("exit 3");
    const run = new BinaryWriter().tag(1, WireType.LengthDelimited).string("9");
    run.tag(6, WireType.LengthDelimited).string(text);
    const started = await callRaw(session, "/proto.StepRunner/Run", run.finish());
    expect([started.headers["grpc-status"], started.messages]).toEqual(["0", [Buffer.alloc(0)]]);
    const id = hex("0a0139");
    const logs = await callRaw(session, "/proto.StepRunner/FollowLogs", id);
    expect(logs.headers["grpc-status"]).toBe("0");
    const status = await callRaw(session, "/proto.StepRunner/Status", id);
    const [answer] = status.messages;
    const { jobs } = fromBinary(gitlab.StatusResponseSchema, answer ?? Buffer.alloc(0));
    const message = Buffer.from(jobs[0]?.message ?? "");
    const times = [jobs[0]?.startTime, jobs[0]?.endTime].map((time) => {
      const writer = new BinaryWriter().tag(1, WireType.Varint).int64(time?.seconds ?? 0n);
      if (time?.nanos) writer.tag(2, WireType.Varint).int32(time.nanos);
      return Buffer.from(writer.finish());
    });
    const [start = Buffer.alloc(0), end = Buffer.alloc(0)] = times;
    const inner = Buffer.concat([
      hex("0a0139"),
      Buffer.from([0x12, message.length]),
      message,
      hex("1803"),
      Buffer.from([0x2a, start.length]),
      start,
      Buffer.from([0x32, end.length]),
      end,
    ]);
    expect(answer?.equals(Buffer.concat([Buffer.from([0x0a, inner.length]), inner]))).toBe(true);
    const closed = await callRaw(session, "/proto.StepRunner/Close", id);
    expect([closed.headers["grpc-status"], closed.messages]).toEqual(["0", [Buffer.alloc(0)]]);
    const gone = await callRaw(session, "/proto.StepRunner/Status", id);
    expect(gone.headers["grpc-status"]).toBe("5");
  });

  test("what is newer is only told to Go's clients", async () => {
    const world = await openWorld();
    await world.theirs.run({ id: "9", steps: steps("exit 3") });
    await followLines(world, "9");
    const session = openSession(world.socket);
    const ask = async (agent: string): Promise<Buffer> => {
      const { messages } = await callRaw(session, "/proto.StepRunner/Status", hex("0a0139"), { "user-agent": agent });
      return messages[0] ?? Buffer.alloc(0);
    };
    const plain = fromBinary(gitlab.StatusResponseSchema, await ask("grpc-python/1.51"));
    expect(plain.jobs[0]?.$unknown).toBeUndefined();
    const newer = fromBinary(gitlab.StatusResponseSchema, await ask("gitlab-runner grpc-go/1.83.0"));
    expect(newer.jobs[0]?.$unknown?.map(({ no }) => no)).toEqual([7, 4]);
  });

  test("the timeout of a newer request is kept", async () => {
    const world = await openWorld();
    const session = openSession(world.socket);
    const run = new BinaryWriter().tag(1, WireType.LengthDelimited).string("9");
    run.tag(6, WireType.LengthDelimited).string(steps("sleep 60"));
    // google.protobuf.Duration of 300 ms.
    run.tag(7, WireType.LengthDelimited).fork().tag(2, WireType.Varint).int32(300_000_000).join();
    await callRaw(session, "/proto.StepRunner/Run", run.finish());
    await followLines(world, "9");
    const { jobs } = await world.theirs.status({ id: "9" });
    expect(jobs[0]?.status).toBe(gitlab.StepResult_Status.failure);
    expect(jobs[0]?.message).toMatch(/exit status 124$/);
  });
});
