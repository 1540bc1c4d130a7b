import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasProgram, startKubernetesServer, withTempDir } from "../src/index.ts";
import type { KubernetesServer } from "../src/index.ts";

interface Result {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

async function kubectl(server: { url: string }, args: readonly string[], input?: Uint8Array): Promise<Result> {
  return withTempDir(async (dir) => {
    await mkdir(join(dir, "home"));
    const env = { PATH: process.env["PATH"], HOME: join(dir, "home"), KUBECONFIG: join(dir, "none") };
    const child = spawn("kubectl", ["--server", server.url, ...args], { env, stdio: "pipe" });
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    const [code] = (await once(child, "close")) as [number | null];
    return { code, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() };
  });
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describe.skipIf(!hasProgram("kubectl"))("the double, driven by the real kubectl", () => {
  let server: KubernetesServer;
  beforeAll(async () => {
    const followedLog = new PassThrough();
    followedLog.end("second\n");
    const pods = [{ name: "job" }, { name: "two", containers: ["a", "b"], log: "first\n", followedLog }];
    server = await startKubernetesServer({ pods });
  });
  afterAll(() => server.close());

  const exec = (script: string, input?: Uint8Array): Promise<Result> =>
    kubectl(server, ["exec", ...(input === undefined ? [] : ["-i"]), "job", "--", "sh", "-c", script], input);

  test("passes an exit code on", async () => {
    const result = await exec("echo out; echo err >&2; exit 3");
    expect(result).toMatchObject({ code: 3, stdout: Buffer.from("out\n") });
    expect(result.stderr).toContain("err\n");
    expect(result.stderr).toContain("command terminated with exit code 3");
    expect(server.sessions.at(-1)).toMatchObject({ protocol: "v5.channel.k8s.io", container: "main" });
  });

  test("gives the whole input, its end, and takes output after it", async () => {
    const result = await exec("cat | wc -c; echo after", randomBytes(300_000));
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout.toString().split(/\s+/u)).toEqual(["300000", "after", ""]);
  });

  test("echoes large input byte for byte", async () => {
    const input = randomBytes(8 * 1024 * 1024);
    const result = await exec("cat", input);
    expect(sha256(result.stdout)).toBe(sha256(input));
    expect(result.code).toBe(0);
  });

  test("sends large output and large errors", async () => {
    const result = await exec("head -c 5000000 /dev/zero; head -c 1000000 /dev/zero | tr '\\0' e >&2");
    expect(result.stdout.length).toBe(5_000_000);
    expect(result.stderr).toBe("e".repeat(1_000_000));
  });

  test("keeps arguments apart", async () => {
    const result = await kubectl(server, ["exec", "job", "--", "printf", "[%s]", "a b", "", "ü&=?", "-x"]);
    expect(result.stdout.toString()).toBe("[a b][][ü&=?][-x]");
  });

  test("says that a pod, a container and a program are not there", async () => {
    const pod = await kubectl(server, ["exec", "nope", "--", "true"]);
    expect(pod).toMatchObject({ code: 1, stderr: expect.stringContaining('pods "nope" not found') as string });
    const container = await kubectl(server, ["exec", "two", "-c", "z", "--", "true"]);
    expect(container.stderr).toContain("container z is not valid for pod two");
    const program = await kubectl(server, ["exec", "two", "-c", "b", "--", "no-such-program"]);
    expect(program.code).toBe(127);
    expect(program.stdout.toString()).toContain("executable file not found");
  });

  test("follows a log", async () => {
    const result = await kubectl(server, ["logs", "-f", "two", "-c", "a"]);
    expect(result).toMatchObject({ code: 0, stdout: Buffer.from("first\nsecond\n") });
  });
});

describe.skipIf(!hasProgram("kubectl"))("faults of the double, seen by the real kubectl", () => {
  const run = async (fault: object, script: string): Promise<Result> => {
    await using server = await startKubernetesServer({ pods: [{ name: "job" }], onExec: () => fault });
    return await kubectl(server, ["exec", "job", "--", "sh", "-c", script]);
  };

  test("sends frames in pieces of a byte", async () => {
    const pieces = await run({ writeBytes: 1, fragmentBytes: 3 }, "printf abcdefghij; exit 4");
    expect(pieces).toMatchObject({ code: 4, stdout: Buffer.from("abcdefghij") });
  });

  test("delays the status", async () => {
    expect(await run({ delayStatusMs: 100 }, "exit 5")).toMatchObject({ code: 5 });
  });

  test("cuts the connection", async () => {
    const result = await run({ dropAfterBytes: 1000 }, "head -c 100000 /dev/zero");
    expect(result.code).toBe(1);
    expect(result.stdout.length).toBeLessThan(1000);
  });

  test("fails on the status channel", async () => {
    const result = await run({ failure: "error executing command in container: no room" }, "true");
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining("no room") as string });
  });
});
